"""Accesses of one thread: the addresses of its elements, and the conditions under which an element exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block

from mlc.dialects.kernel.linear_layout import LayoutAttr, LinearLayout
from mlc.passes.codegen.cuda.thread.coordinates import THREAD, Coordinates
from mlc.passes.codegen.cuda.thread.thread_part import ThreadPart
from mlc.passes.device.distribute_values import DISTRIBUTION
from mlc.passes.device.distribution.swizzle import placed
from mlc.passes.device.distribution.value_classes import extents

WARP_BITS = 5


@dataclass(frozen=True)
class TileAccesses:
    """The accesses of a tile at ``base``, with a stride (a C expression) for each axis of the tile."""

    coordinates: Coordinates
    part: ThreadPart
    base: str
    strides: Sequence[str]
    limits: Mapping[int, str] = field(default_factory=dict)  # the number of valid elements along some axes of the tile
    layout: LinearLayout | None = None  # of the local array, whose strides are constants
    assumed: frozenset[str] = frozenset()  # conditions that hold wherever the accesses are

    def address(self, register: int) -> str:
        """Return the offset of a register's element: base + Σ coordinate·stride, mapped by the local array's layout."""
        if self.layout is not None and self.part.layout is not None:
            place = placed(self.part.layout, [int(s) for s in self.strides], self.layout)
            return f"{self.base} + {self.coordinates.at(ThreadPart(place, place.shape), 0, register)}"
        variable, constant = self.offset(register)
        return f"{variable} + {constant}" if constant else variable

    def offset(self, register: int) -> tuple[str, int]:
        """Return the offset as a sum: a part that depends on the thread and the tile, which registers may share, and a
        constant."""
        terms, constant = [self.base], 0
        offset = len(self.part.aligned) - len(self.strides)
        for axis in self.part.axes:
            stride = self.strides[axis - offset]
            if stride == "0":
                continue
            at, more = self.coordinates.terms(self.part, axis, register)
            if stride.isdigit():
                constant += more * int(stride)
            elif more:
                at = str(more) if at == "0" else f"({at} + {more})"
            if at != "0":
                terms.append(at if stride == "1" else f"{at} * {_wide(stride)}")
        return " + ".join(terms), constant

    def valid(self, register: int) -> list[str]:
        """Return the conditions under which a register of the thread has a valid element of the tile."""
        return [*self.exists(register), *self.within(register)]

    def exists(self, register: int) -> list[str]:
        """Return the conditions under which a register of the thread has an element of the tile."""
        found = (
            f"{self.coordinates.at(self.part, axis, register)} < {self.part.aligned[axis]}"
            for axis in (self.part.axes if self.part.layout is not None else ())
            if self._uncertain(axis, register)
        )
        return [condition for condition in found if condition not in self.assumed]

    def within(self, register: int) -> list[str]:
        """Return the conditions under which a register's element is within the limits."""
        offset = len(self.part.aligned) - len(self.part.shape)
        limits = {axis + offset: text for axis, text in self.limits.items()}
        partial = [n for n in self.part.axes if n in limits] if self.part.layout is not None else []
        return [f"{self.coordinates.at(self.part, n, register)} < {limits[n]}" for n in partial]

    def _uncertain(self, axis: int, register: int) -> bool:
        """Return whether the coordinates of some threads are beyond the value."""
        if not self.part.partial(axis):
            return False
        assert self.part.layout is not None
        threads = sum(b[axis] for name in ("lane", "warp") for b in self.part.layout.of_input(name))
        return self.coordinates.constant(self.part, axis, register) + threads >= self.part.aligned[axis]

    def once(self) -> list[str]:
        """Return the condition under which a thread is the first of those that hold the same elements."""
        lane, warp = self.part.replicas()
        if self.part.layout is None:
            return [f"{THREAD} == 0"]
        mask = lane | warp << WARP_BITS
        return [f"({THREAD} & {mask}) == 0"] if mask else []


ALONE = {
    "kernel.read", "kernel.gather", "kernel.write", "kernel.scatter", "kernel.step", "kernel.lanewise", "kernel.symbol",
    "vector.broadcast", "scf.for", "scf.if", "scf.yield", "scf.reduce",
}  # fmt: skip
"""The operations in which a thread waits for no other thread, beside those of arith and math."""


def busy_threads(block: Block, coordinates: Coordinates) -> list[str]:
    """Return the conditions under which a thread has an element in any register, if all vectors of a block have one
    distribution and no thread waits for others; otherwise []. Threads of the padding then need not run the block."""
    ops = list(block.walk())
    found = {a.data for o in ops if isinstance(a := o.attributes.get(DISTRIBUTION), LayoutAttr)}
    if len(found) != 1 or not all(o.name in ALONE or o.name.startswith(("arith.", "math.")) for o in ops):
        return []
    layout = found.pop()
    shapes = [extents(v) for o in ops for v in (*o.results, *o.operands) if extents(v)]
    rank = len(layout.shape)
    shape = tuple(max(s[n - rank + len(s)] for s in shapes if n >= rank - len(s)) for n in range(rank))
    accesses = TileAccesses(coordinates, ThreadPart(layout, shape), "0", [])
    first, *others = [accesses.exists(r) for r in range(1 << len(layout.of_input("register")))]
    return [condition for condition in first if all(condition in each for each in others)]


def _wide(stride: str) -> str:
    """Return a stride as a 64-bit factor, if a coordinate times it may exceed 32 bits."""
    return f"(int64_t){stride}" if stride.isdigit() else stride
