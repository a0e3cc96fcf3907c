"""MurmurHash3_x86_32 of numbers (A. Appleby, public domain). Source: onnxruntime's MurmurHash3."""

from __future__ import annotations

from mlc.dialects.types import STRING
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

WORDS = {"i32": 1, "ui32": 1, "f32": 1, "i64": 2, "ui64": 2, "f64": 2}  # of 32 bits


def murmur3(build: Builder, x: Tensor, seed: int) -> Tensor:
    """ui32: the hash of the bytes of each element, or of the UTF-8 of a string."""
    if x.element == STRING:
        return build.string_routine("murmur3", x, numbers=(seed,))
    if x.element not in WORDS:
        raise NotSupported(f"{x}; it takes strings and numbers of 32 or 64 bits")
    if WORDS[x.element] == 1:
        words = [build.map({"f32": "ui32(as_i32(x0))"}.get(x.element, "ui32(x0)"), x)]
    else:
        bits = build.map({"f64": "as_i64(x0)"}.get(x.element, "i64(x0)"), x)
        words = [build.map(f"ui32((x0 >> {shift}) & 4294967295)", bits) for shift in (0, 32)]
    value = build.constant(seed, "ui32")
    for word in words:
        block = _rotated(build, build.map(f"x0 * ui32({0xCC9E2D51})", word), 15)
        block = build.map(f"x0 * ui32({0x1B873593})", block)
        value = _rotated(build, build.map("x0 ^ x1", value, block), 13)
        value = build.map(f"x0 * ui32(5) + ui32({0xE6546B64})", value)
    value = build.map(f"x0 ^ ui32({4 * len(words)})", value)
    for by, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        value = build.map(f"(x0 ^ (x0 >> ui32({by}))) * ui32({factor})", value)
    return build.map("x0 ^ (x0 >> ui32(16))", value)


def _rotated(build: Builder, x: Tensor, by: int) -> Tensor:
    """The bits of ``x`` rotated to the left."""
    return build.map(f"(x0 << ui32({by})) | (x0 >> ui32({32 - by}))", x)
