"""Products of warpgroups as C statements: four warps multiply operands in shared memory (``mlc_wgmma`` of
mlc_cuda_warpgroup.h), which matrix descriptors describe.

The descriptor of a ring's first buffer is computed where the ring is declared, and a loop adds the offset of a buffer:

    const mlc_matrix m0 = mlc_matrix_of<2, 64, false>(v3 + (t0) * 64);
    for (…) { … mlc_wgmma<256, …>(v9 + 0, mlc_matrix_at(m0, v8 * 16384), mlc_matrix_at(m1, v8 * 32768));
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlc.dialects.kernel import MmaOp
from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.codegen.cuda.thread.coordinates import Coordinates
from mlc.passes.codegen.cuda.thread.fragments import TYPES
from mlc.passes.codegen.cuda.thread.thread_part import Held


@dataclass(frozen=True)
class Matrix:
    """The left or right operand of a product. ``name``: the descriptor of the ring's first buffer."""

    op: MmaOp
    left: bool
    name: str

    def declaration(self, pointer: str, total: LinearLayout, coordinates: Coordinates) -> str:
        """Return the declaration of the descriptor of a warpgroup's part of a buffer. ``total``: the distribution of
        the sums."""
        lanes, (_, _, *groups) = total.of_input("lane"), total.of_input("warp")
        warps = LinearLayout.of(total.shape, lane=[(0, 0)] * len(lanes), warp=[(0, 0), (0, 0), *groups])
        first = coordinates.warp_variable(warps, 0 if self.left else 1)
        kind = f"{self.size}, {self.steps}, {str(self.across).lower()}"
        return f"const mlc_matrix {self.name} = mlc_matrix_of<{kind}>({pointer} + {first} * {self.steps});"

    def at(self, buffer: str, row: int) -> str:
        """Return the descriptor from ``row`` (a row or column of the part) on, in the buffer that begins ``buffer``
        bytes later."""
        terms = [*([buffer] if buffer != "0" else []), *([str(row * self.steps * self.size)] if row else [])]
        return f"mlc_matrix_at({self.name}, {' + '.join(terms)})" if terms else self.name

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return ITEMSIZE[element_of(self.op.a)]

    @property
    def steps(self) -> int:
        return self.op.steps.value.data

    @property
    def across(self) -> bool:
        """Whether neighbours are across the sum."""
        return int(self.op.strides.get_values()[0 if self.left else 2]) != 1


@dataclass(frozen=True)
class WarpgroupProduct:
    """A product of warpgroups. ``starts``: the bytes from the first buffer of each operand to the buffer that is
    read."""

    total: Held
    op: MmaOp
    matrices: tuple[Matrix, Matrix]
    starts: tuple[str, str]

    def steps(self) -> Iterator[str]:
        """Yield C statements. The products of 64 rows each are added to their part of the array of sums, or overwrite
        it if sums are promoted; all are one group, in flight."""
        half, (a, b) = self.op.shape.columns // 2, self.matrices
        types = ", ".join(f"MLC_{TYPES.get(e, e).upper()}" for e in map(element_of, (self.op.a, self.op.b)))
        kinds = ", ".join(str(each.across).lower() for each in self.matrices)
        more = ", false" if self.op.promoted else ""
        yield "mlc_wgmma_begin();"
        for first in range(0, len(self.total.names), half):
            starts = f"{a.at(self.starts[0], self._layout(register=first)[0])}, {b.at(self.starts[1], 0)}"
            sums = f"{self.total.array} + {first}"
            yield f"mlc_wgmma<{2 * half}, {types}, {a.steps}, {kinds}{more}>({sums}, {starts});"
        yield "mlc_wgmma_commit();"

    @property
    def _layout(self) -> LinearLayout:
        assert self.total.part.layout is not None
        return self.total.part.layout
