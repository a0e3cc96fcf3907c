"""Bulk stores as C statements: fragments of a warpgroup go to swizzled shared memory, and from there to a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from mlc.dialects.kernel import PART, BulkStoreOp, part_columns
from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.dialects.types import shape_of
from mlc.passes.codegen.cuda.thread.coordinates import THREAD, Coordinates
from mlc.passes.codegen.cuda.thread.thread_part import Held
from mlc.passes.device.distribution.swizzle import placed
from mlc.passes.device.distribution.warpgroup import ROWS

ACROSS = 16  # columns of a store of fragments (stmatrix): two matrices of 8 x 8 beside two others
ODD = f"{THREAD} >> 2 & 1"  # whether a thread has an odd row of a fragment


@dataclass(frozen=True)
class BulkStore:
    """The store of a tile whose sums ``held`` has, by the warpgroups of its distribution.

    ``pack`` returns a register of 32 bits for two neighbours; ``positions`` are the coordinates at which the tile
    begins in the tensor.
    """

    op: BulkStoreOp
    held: Held
    pack: Callable[[str, str], str]
    staging: str
    layout: LinearLayout  # of a buffer
    map: str
    positions: Sequence[str]
    coordinates: Coordinates
    team: tuple[int, str] = (1, "0")  # how many groups of threads have tiles of their own, and the number of this one

    def steps(self) -> Iterator[str]:
        """Yield C statements: each part waits for a buffer, fills it, and is stored by one thread of the warpgroup."""
        buffers = cast(int, shape_of(self.op.staging)[0]) // (self.team[0] * self._groups)
        for n, part in enumerate(self._parts):
            buffer = f"{self.staging} + ({self._group} * {buffers} + {n % buffers}) * {PART * self._columns}"
            yield f"mlc_bulk_store_ready<{buffers - 1}>({self._group});"
            yield from self._halves(part, buffer) if self._columns == PART else self._words(part, buffer)
            yield f"mlc_proxy_fence(); mlc_warpgroup_barrier({self._group});"
            yield f"mlc_bulk_store({buffer}, {self.map}, {', '.join(self._place(part))});"

    def _halves(self, part: tuple[int, int], buffer: str) -> Iterator[str]:
        """Yield stores of elements of 16 bits, four matrices at a time."""
        for column in range(0, PART, ACROSS):
            yield f"mlc_stmatrix_x4({buffer} + {self._row(column)}, {', '.join(self._registers(part, column))});"

    def _words(self, part: tuple[int, int], buffer: str) -> Iterator[str]:
        """Yield stores of elements of 32 bits, the two neighbours of a thread at a time. Neighbouring rows have
        exchanged chunks, so threads of odd rows are further across: half a warp, four rows, then uses all banks."""
        lanes = [(0, 2), (0, 4), (1, ACROSS), (2, 0), (4, 0)]
        for below in (0, 8):
            for column in range(0, self._columns, 8):
                even, odd = (
                    [self.held.at(self._known[part[0] + below, part[1] + at + e]) for e in (0, 1)]
                    for at in (column, column ^ ACROSS)
                )
                names = ", ".join(f"{ODD} ? {b} : {a}" for a, b in zip(even, odd, strict=True))
                yield f"mlc_store_two({buffer} + {self._placed(lanes, (below, column))}, {names});"

    @property
    def _columns(self) -> int:
        """The columns of a part."""
        return part_columns(self.op.map.itemsize)

    @property
    def _total(self) -> LinearLayout:
        """The distribution of the sums."""
        assert self.held.part.layout is not None
        return self.held.part.layout

    @property
    def _outer(self) -> list[tuple[int, ...]]:
        """The coordinates that the bits of a warpgroup's number add."""
        return list(self._total.of_input("warp")[2:])

    @property
    def _groups(self) -> int:
        return 1 << len(self._outer)

    @cached_property
    def _known(self) -> dict[tuple[int, ...], int]:
        """The register of each element of lane 0 of the first warp."""
        return {self._total(register=r): r for r in range(1 << len(self._total.of_input("register")))}

    @property
    def _parts(self) -> list[tuple[int, int]]:
        """The first rows and columns of a warpgroup's parts, relative to its own first ones."""
        return sorted({(row // ROWS * ROWS, column // self._columns * self._columns) for row, column in self._known})

    @cached_property
    def _group(self) -> str:
        numbers = [(1 << n,) for n in range(len(self._outer))]
        own = self.coordinates.warp_variable(self._per_warp([(0,), (0,), *numbers], (self._groups,)), 0)
        return own if self.team[0] == 1 else self.team[1]  # whose tile is one warpgroup's

    def _per_warp(self, warps: list[tuple[int, ...]], shape: tuple[int, ...]) -> LinearLayout:
        lanes = [(0,) * len(shape)] * len(self._total.of_input("lane"))
        return LinearLayout.of(shape, lane=lanes, warp=warps)

    def _row(self, column: int) -> str:
        """Return the offset of the row of a matrix whose address a lane gives, among 16 rows and columns of its
        warp."""
        return self._placed([(1, 0), (2, 0), (4, 0), (8, 0), (0, 8)], (0, column))

    def _placed(self, lanes: list[tuple[int, int]], first: tuple[int, int]) -> str:
        """Return the offset of the row and column that a thread's lane and warp add to ``first``."""
        shape, strides = (PART, self._columns), (self._columns, 1)
        warps = [(16, 0), (32, 0), *[(0, 0)] * len(self._outer)]
        place = placed(LinearLayout.of(shape, lane=lanes, warp=warps), strides, self.layout)
        constant = placed(LinearLayout.of(shape, one=[first]), strides, self.layout)(one=1)[0] if any(first) else 0
        variable = self.coordinates.thread_variable(place, 0)
        return f"({variable} ^ {constant})" if constant else variable

    def _registers(self, part: tuple[int, int], column: int) -> Iterator[str]:
        """Yield the registers of four matrices: 8 rows, the 8 rows below, and the same 8 columns later."""
        for right in (0, 8):
            for below in (0, 8):
                at = [(part[0] + below, part[1] + column + right + e) for e in (0, 1)]
                yield self.pack(*(self.held.at(self._known[each]) for each in at))

    def _place(self, part: tuple[int, int]) -> Iterator[str]:
        """Yield the coordinates of a part in the tensor."""
        rows = next(n for n, extent in enumerate(self.op.map.box) if n and extent > 1)
        first = self._per_warp([(0, 0), (0, 0), *self._outer], self._total.shape)
        for n, place in enumerate(self.positions):
            axis = {0: 1, rows: 0}.get(n)
            if axis is None:
                yield f"(int)({place})"
            else:
                yield f"(int)({place}) + {self.coordinates.warp_variable(first, axis)} + {part[axis]}"
