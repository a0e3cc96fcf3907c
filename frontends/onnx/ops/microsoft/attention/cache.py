"""The keys or values of GroupQueryAttention from call to call, of floats or of integers with scales."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node

KINDS = ("NONE", "PER_TENSOR", "PER_CHANNEL")


@dataclass(frozen=True)
class Cache:
    """The past [B, heads, most, size], where there is one, of ``bits`` (0: floats) with a scale [1 or heads, 1, size].

    Two integers of 4 bits are in a byte, as 8 more than they are; the past's size is then half of the heads'.
    """

    past: Tensor | None
    bits: int
    scale: Tensor | None

    @staticmethod
    def of(node: Node, past: int, scale: int, attribute: str) -> Cache:
        """The cache of inputs ``past`` and ``scale``."""
        kind, bits, given = node.attr(attribute, "NONE"), node.attr("kv_cache_bit_width", 0), node.get(scale)
        if kind not in KINDS:
            raise NotSupported(f"attribute '{attribute}' = {kind}; {', '.join(KINDS)} are known")
        if kind == "NONE":
            return Cache(node.get(past), 0, None)
        if bits not in (4, 8) or given is None:
            raise NotSupported(f"a cache of {bits} bits, input {scale} {given}; 4 or 8 bits with a scale are supported")
        heads = 1 if kind == "PER_TENSOR" else node.attr("kv_num_heads")
        return Cache(node.get(past), bits, node.build.reshape(given, (heads, 1, product(given.shape) // heads)))

    def extended(self, build: Builder, new: Tensor, old: Tensor, count: Tensor | None, total: DimLike) -> Tensor:
        """The past of each sequence up to its length ``old``, then ``count`` of the new rows (by default all)."""
        x, past = self._stored(build, new), self.past
        if past is not None and past.cache is not None and past.cache.extends(past, 2):
            return past.cache.append(build, x, old, count)
        if past is None or past.shape[2] == 0:
            return x
        length = past.shape[2] if isinstance(total, int) and total <= past.shape[2] else total  # type: ignore[operator]
        most = str(x.shape[2]) if count is None else "x3[i0]"
        step = f"min(max(i2 - x2[i0], 0), {x.shape[2]} - 1)"
        inside = f"(i2 >= x2[i0]) & (i2 - x2[i0] < {most})"
        kept = f"where(i2 < {past.shape[2]}, x0[i0, i1, min(i2, {past.shape[2]} - 1), i3], {past.element}(0))"
        text = f"where({inside}, x1[i0, i1, {step}, i3], {kept})"
        given = [past, x, old, *([] if count is None else [count])]
        return build.compute(text, given, (*x.shape[:2], length, x.shape[3]))

    def _stored(self, build: Builder, x: Tensor) -> Tensor:
        if self.scale is None:
            return x
        low, high = (-8, 7) if self.bits == 4 else (-128, 127)
        whole = build.map(f"min(max(round(f32(x0) / x1), {low}), {high})", x, self.scale)
        if self.bits == 8:
            return build.cast(whole, "i8")
        shape = (*x.shape[:3], x.shape[3] // 2)
        low_half, high_half = (f"i32(x0[i0, i1, i2, 2 * i3 + {n}]) + 8" for n in range(2))
        return build.compute(f"ui8(({low_half}) + 16 * ({high_half}))", [whole], shape)

    def read(self, build: Builder, x: Tensor, element: str) -> Tensor:
        """The stored keys or values, as floats."""
        if self.scale is None:
            return x
        if self.bits == 4:
            text = "f32(((i32(x0[i0, i1, i2, i3 // 2]) >> i32(i3 % 2 * 4)) & 15) - 8)"
            x = build.compute(text, [x], (*x.shape[:3], 2 * x.shape[3]))
        return build.cast(build.map("f32(x0) * x1", x, self.scale), element)
