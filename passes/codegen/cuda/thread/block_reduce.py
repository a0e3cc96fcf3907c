"""Reductions of a distributed vector, of all elements or along its last axis: in registers, then in warps by shuffles,
then in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from mlc.passes.codegen.c_like.c_ops import expression
from mlc.passes.codegen.c_like.c_reduce import COMBINE
from mlc.passes.codegen.c_like.c_types import Chunk
from mlc.passes.codegen.cuda.thread.coordinates import THREAD, Coordinates
from mlc.passes.codegen.cuda.thread.cuda_memory import WARP_BITS, TileAccesses
from mlc.passes.codegen.cuda.thread.thread_part import Held, ThreadPart

SCALAR = Chunk(0, 1, 1)
IDENTITY = {
    "add": "0", "mul": "1", "and": "-1", "or": "0", "maxsi": "min", "minsi": "max", "maxui": "0", "minui": "-1",
    "maximumf": "-inf", "minimumf": "inf",
}  # fmt: skip
_LIMITS = {8: "INT8", 16: "INT16", 32: "INT32", 64: "INT64"}


def identity(kind: str, element: str, type_: str) -> str:
    """Return the C expression of the identity of a combination."""
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
    """Return the C expression of the combination of two elements."""
    return expression(COMBINE[kind], [a, b], element, element, SCALAR, {})


@dataclass(frozen=True)
class BlockReduction:
    """The reduction of the elements of all threads to one element, which all threads then have."""

    part: ThreadPart
    kind: str
    element: str
    type_: str

    def steps(self, name: str, elements: Sequence[str]) -> Iterator[str]:
        """Yield C statements that declare ``name``. ``elements``: the thread's elements, with the identity in place of
        invalid ones."""
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
        """Return the bits of a thread's number that determine which element it holds."""
        assert self.part.layout is not None
        free = self.part.own.free(which)
        return [n for n in range(len(self.part.own.of_input(which))) if not free >> n & 1]

    def _across_warps(self, name: str, bits: Sequence[int]) -> Iterator[str]:
        """Yield the statements by which each warp writes its element, and after a barrier each thread reads those of
        all warps, in one order."""
        indices = [0]
        for bit in bits:
            indices += [index | 1 << bit for index in indices]
        yield f"mlc_put({name});"
        yield "__syncthreads();"
        yield f"{name} = mlc_get<{self.type_}>({indices[0]});"
        for index in sorted(indices[1:]):
            yield f"{name} = {combined(self.kind, name, f'mlc_get<{self.type_}>({index})', self.element)};"
        yield "__syncthreads();"


@dataclass(frozen=True)
class AxisReduction:
    """The reduction of ``source`` along its last axis to the vector of ``target``, in an order that the distribution
    determines and that is the same in each run.

    A result with another distribution than the source goes through shared memory, where every thread reads its
    elements. So does a result that keeps the axis if several warps share a row; otherwise each thread of a row has it.
    """

    coordinates: Coordinates
    source: Held
    target: ThreadPart
    kind: str
    element: str
    type_: str

    @property
    def in_place(self) -> bool:
        """Whether the threads that share a row are of one warp, and each has the result after the shuffles."""
        keeps = self.source.part.layout == self.target.layout and len(self.source.part.shape) == len(self.target.shape)
        return keeps and not self._varying("warp")

    def steps(self, name: str) -> Iterator[str]:
        """Yield C statements after which shared memory has the partial results of each warp, or each thread its
        results. Names of variables begin with ``name``."""
        yield from self._shuffles(name)
        if not self.in_place:
            yield from self._stores(name)

    def _shuffles(self, name: str) -> Iterator[str]:
        for kept, registers in self._groups().items():
            yield f"{self.type_} {name}_{kept} = {self._tree([self._element(r) for r in registers])};"
            for bit in self._varying("lane"):
                other = f"mlc_shuffle_xor({name}_{kept}, {1 << bit})"
                yield f"{name}_{kept} = {combined(self.kind, f'{name}_{kept}', other, self.element)};"

    def _stores(self, name: str) -> Iterator[str]:
        yield f"__shared__ __align__(16) {self.type_} {name}_s[{len(self._parts()) * self._size}];"
        for kept in self._groups():
            store = f"{name}_s[{self._warp()} + {self._index(self.source.part, kept)}] = {name}_{kept};"
            condition = " && ".join(self._writes(kept))
            yield f"if ({condition}) {store}" if condition else store
        yield "__syncthreads();"

    def results(self, name: str) -> dict[int, str]:
        """Return the C expression of each register of the result, after ``steps``."""
        if self.in_place:
            return {r: f"{name}_{r}" for r in self.target.registers()}
        return {r: self._combined(name, r) for r in self.target.registers()}

    # -- the source ----------------------------------------------------------------------------------------------------

    @property
    def _axis(self) -> int:
        return len(self.source.part.aligned) - 1

    @property
    def _result_extents(self) -> tuple[int, ...]:
        """The extents of the result."""
        return self.source.part.aligned[:-1]

    @property
    def _size(self) -> int:
        return prod(self._result_extents)

    def _varying(self, which: str) -> list[int]:
        """Return the bits of an input that determine the coordinate along the last axis."""
        return [n for n, basis in enumerate(self.source.part.own.of_input(which)) if basis[self._axis]]

    def _groups(self) -> dict[int, list[int]]:
        """Return the registers of a thread whose elements are combined, by the least of them."""
        mask, groups = sum(1 << bit for bit in self._varying("register")), dict[int, list[int]]()
        for r in self.source.part.registers():
            groups.setdefault(r & ~mask, []).append(r)
        return groups

    def _element(self, register: int) -> str:
        """Return an element, or the identity if it is beyond the extent."""
        valid = " && ".join(self._valid(self.source.part, register))
        text = self.source.at(register)
        return f"({valid} ? {text} : {identity(self.kind, self.element, self.type_)})" if valid else text

    def _tree(self, elements: Sequence[str]) -> str:
        if len(elements) == 1:
            return elements[0]
        half = len(elements) // 2
        return f"({combined(self.kind, self._tree(elements[:half]), self._tree(elements[half:]), self.element)})"

    def _valid(self, part: ThreadPart, register: int) -> list[str]:
        return TileAccesses(self.coordinates, part, "0", []).valid(register)

    # -- shared memory -------------------------------------------------------------------------------------------------

    def _parts(self) -> range:
        """Return the numbers of the partial results of an element, one for each warp along the last axis."""
        return range(1 << len(self._varying("warp")))

    def _warp(self) -> str:
        """Return the offset at which the partial results of a thread's warp begin."""
        bits = enumerate(self._varying("warp"))
        return " + ".join(f"({THREAD} >> {WARP_BITS + bit} & 1) * {self._size << n}" for n, bit in bits) or "0"

    def _index(self, part: ThreadPart, register: int) -> str:
        """Return the row-major index of a register's element among those of the result."""
        whole = len(part.shape) == len(self.source.part.shape)  # it has the reduced axis
        offset, terms = len(part.aligned) - len(self._result_extents) - whole, []
        for n in range(len(self._result_extents)):
            if self._result_extents[n] > 1:
                at = self.coordinates.at(part, n + offset, register)
                terms.append(f"{at} * {prod(self._result_extents[n + 1 :])}")
        return " + ".join(terms) or "0"

    def _writes(self, register: int) -> list[str]:
        """Return the condition under which a thread has the partial result of an element, and is the first such
        thread."""
        part = self.source.part
        lane, warp = part.replicas()
        mask = lane | sum(1 << bit for bit in self._varying("lane")) | warp << WARP_BITS
        assert part.layout is not None
        inside = ThreadPart(part.layout, (*part.aligned[:-1], 1))
        return [*([f"({THREAD} & {mask}) == 0"] if mask else []), *self._valid(inside, register)]

    def _combined(self, name: str, register: int) -> str:
        """Return the combination of the partial results of one element, in the order of warps."""
        index = self._index(self.target, register)
        text = self._tree([f"{name}_s[{part * self._size} + {index}]" for part in self._parts()])
        valid = " && ".join(self._valid(self.target, register))
        return f"{valid} ? {text} : {identity(self.kind, self.element, self.type_)}" if valid else text
