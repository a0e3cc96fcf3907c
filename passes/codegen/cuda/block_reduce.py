"""Combines all elements of a distributed vector: in registers, in warps by shuffles, then in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlc.passes.codegen.c_like.c_ops import expression
from mlc.passes.codegen.c_like.c_reduce import COMBINE
from mlc.passes.codegen.c_like.c_types import Chunk
from mlc.passes.codegen.cuda.thread_part import Part

SCALAR = Chunk(0, 1, 1)
IDENTITY = {
    "add": "0", "mul": "1", "and": "-1", "or": "0", "maxsi": "min", "minsi": "max", "maxui": "0", "minui": "-1",
    "maximumf": "-inf", "minimumf": "inf",
}  # fmt: skip
_LIMITS = {8: "INT8", 16: "INT16", 32: "INT32", 64: "INT64"}


def identity(kind: str, element: str, type_: str) -> str:
    """The C expression of the identity of a combination."""
    text = IDENTITY[kind]
    if element == "bf16":
        return {"0": "0", "1": "0x3f80", "-inf": "0xff80", "inf": "0x7f80"}[text]
    if element == "i1":
        return {"0": "0", "1": "1", "-1": "1", "min": "0", "max": "1"}[text]
    if text in ("min", "max"):
        return f"{_LIMITS[int(element[1:])]}_{text.upper()}"
    infinity = {"-inf": "-MLC_INFINITY", "inf": "MLC_INFINITY"}
    return f"({type_})({infinity.get(text, text)})"


def combined(kind: str, a: str, b: str, element: str) -> str:
    """The C expression of the combination of two elements."""
    return expression(COMBINE[kind], [a, b], element, element, SCALAR, {})


@dataclass(frozen=True)
class BlockReduction:
    """The steps that combine the elements of all threads into one, which all threads then have."""

    part: Part
    kind: str
    element: str
    type_: str

    def steps(self, name: str, elements: Sequence[str]) -> Iterator[str]:
        """C statements that declare ``name``, from the thread's valid elements (or the identity)."""
        text = elements[0]
        for other in elements[1:]:
            text = f"({combined(self.kind, text, other, self.element)})"
        yield f"{self.type_} {name} = {text};"
        for bit in self._varying("lane"):
            other = f"mlc_shuffle_xor({name}, {1 << bit})"
            yield f"{name} = {combined(self.kind, name, other, self.element)};"
        warps = self._varying("warp")
        if warps:
            yield from self._across_warps(name, warps)

    def _varying(self, which: str) -> list[int]:
        """The bits of a thread's number that decide which element it holds."""
        assert self.part.layout is not None
        free = self.part.own.free(which)
        return [n for n in range(len(self.part.own.of_input(which))) if not free >> n & 1]

    def _across_warps(self, name: str, bits: Sequence[int]) -> Iterator[str]:
        """Each warp writes its element; after a barrier each thread reads those of all warps, in one order."""
        indices = [0]
        for bit in bits:
            indices += [index | 1 << bit for index in indices]
        yield f"mlc_put({name});"
        yield "__syncthreads();"
        yield f"{name} = mlc_get<{self.type_}>({indices[0]});"
        for index in sorted(indices[1:]):
            yield f"{name} = {combined(self.kind, name, f'mlc_get<{self.type_}>({index})', self.element)};"
        yield "__syncthreads();"
