"""Local arrays in registers: which arrays of a kernel are C variables and no memory, and where each element is.

    kernel.local : memref<3x3xf64>     →     f64x4 r1_0, r1_1, r1_2;

An array is in registers if all its elements are accessed at constant offsets and few variables hold it: one for each
chunk of a row. Rows are as long as the longest run of elements that the kernel reads or writes as one vector. Arrays
that are copied into each other have rows of one length, so that a copy is one assignment a variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.graph import dims_of
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import ELEMENTS, ITEMSIZE, element_of, elements_in, is_narrow
from mlc.passes.codegen.c_like.c_types import Layout, layout

VARIABLES = 16
"""The most variables of an array: a CPU has 16 or 32 vector registers."""


@dataclass(frozen=True)
class RegisterArray:
    """The variables of an array, ``names``, in the order of ``shape``: of rows and the chunks of each."""

    names: tuple[str, ...]
    shape: Layout

    def element(self, offset: int) -> str:
        """Return the C expression of an element."""
        row, column = divmod(offset, self.shape.shape[-1])
        n, chunk = next((n, c) for n, c in enumerate(self.shape.chunks) if c.start <= column < c.start + c.valid)
        name = self.names[row * len(self.shape.chunks) + n]
        return name if chunk.width == 1 else f"{name}[{column - chunk.start}]"

    def whole(self, offsets: Sequence[int], width: int) -> str | None:
        """Return the variable of ``width`` lanes that holds exactly these elements; None if there is none."""
        if not all(b == a + 1 for a, b in itertools.pairwise(offsets)):
            return None
        row, column = divmod(offsets[0], self.shape.shape[-1])
        for n, chunk in enumerate(self.shape.chunks):
            if (chunk.start, chunk.width, chunk.valid) == (column, width, len(offsets)):
                return self.names[row * len(self.shape.chunks) + n]
        return None


def accessed(op: kernel.ReadOp | kernel.WriteOp, lanes: int, at: int) -> list[list[int]] | None:
    """Return the elements that each variable of a tile reads or writes, of an array whose view begins at element
    ``at``; None if they are not constant."""
    tile = op.result if isinstance(op, kernel.ReadOp) else op.value
    strides, start = op.mixed_strides or [0], constant(op.offset)
    if start is None or op.lanes is not None or op.valid or not all(isinstance(s, int) for s in strides):
        return None
    shape, steps = layout(tile.type, lanes), [s for s in strides if isinstance(s, int)]
    found = []
    for leading, c in shape.positions():
        first = at + start + sum(i * s for i, s in zip(leading, steps, strict=False))
        chunk = shape.chunks[c]
        found.append([first + (chunk.start + lane) * steps[-1] for lane in range(chunk.valid)])
    return found


UPDATES = {"": "{old} = {new}", "add": "{old} = {old} + {new}", "mul": "{old} = {old} * {new}"}
"""How a scatter changes an element, by the name of its function."""


@dataclass(frozen=True)
class Updates:
    """A scatter of few elements: ``count`` rows of ``width`` elements, into ``cells`` rows."""

    cells: int
    count: int
    width: int
    statement: str


def updates_of(op: Operation) -> Updates | None:
    """Return what a scatter into its own memory does, if it updates few elements; None for other operations."""
    if not isinstance(op, kernel.LibraryCallOp) or not op.function.data.startswith("scatter"):
        return None
    how = UPDATES.get((op.function.data.split("_") + [""])[1])
    cells, count, width = (n for n in dims_of(op.integers))
    if how is None or not (isinstance(cells, int) and isinstance(count, int) and isinstance(width, int)):
        return None
    width //= ITEMSIZE[element_of(op.out)] if op.function.data == "scatter" else 1
    return Updates(cells, count, width, how) if 0 < count * width <= VARIABLES else None


def constant(value: SSAValue) -> int | None:
    known = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    return known.value.data if isinstance(known, IntegerAttr) else None


def array_of(value: SSAValue) -> tuple[SSAValue, int] | None:
    """Return the local array of which ``value`` is a view, and the element at which the view begins; None if it is no
    local array, or begins at an element that is not constant."""
    at = 0
    while isinstance(value.owner, kernel.ViewOp):
        op = value.owner
        offset, size = parse_dim(op.offset.data), ITEMSIZE[element_of(op.source)]
        if not isinstance(offset, int) or element_of(op.source) != element_of(op.result):
            return None
        value, at = op.source, at + offset // size
    return (value, at) if isinstance(value.owner, kernel.LocalOp) else None


def register_shapes(fn: kernel.FuncOp, lanes: int) -> dict[SSAValue, Layout]:
    """Return the layouts of the arrays that are in registers."""
    arrays: list[SSAValue] = [o.result for o in fn.walk() if isinstance(o, kernel.LocalOp)]
    rows = {array: rows_of(array, lanes) for array in arrays}
    copies = [o for o in fn.walk() if isinstance(o, kernel.CopyOp)]
    ends = [(array_of(o.source), array_of(o.target)) for o in copies]
    pairs = [(old[0], new[0]) for old, new in ends if old and new]
    for _ in arrays:  # until nothing changes, at most along a chain of all arrays
        for old, new in pairs:
            longest = None if None in (rows[old], rows[new]) else max(rows[old] or 1, rows[new] or 1)
            rows[old] = rows[new] = longest if all(_divides(longest, each) for each in (old, new)) else None
    shapes = {array: _layout(array, row, lanes) for array, row in rows.items() if row is not None}
    return {array: shape for array, shape in shapes.items() if len(list(shape.positions())) <= VARIABLES}


def _divides(row: int | None, array: SSAValue) -> bool:
    return row is not None and elements_in(array) % row == 0


def _layout(array: SSAValue, row: int, lanes: int) -> Layout:
    count = elements_in(array)
    assert isinstance(count, int)
    element = element_of(array)
    signless = "i8" if is_narrow(element) else element.replace("ui", "i")  # as kernels read and write them
    return layout(VectorType(ELEMENTS[signless], [count // row, row]), lanes)


def rows_of(array: SSAValue, lanes: int) -> int | None:
    """Return the length of an array's rows; None if it must be in memory."""
    count = elements_in(array)
    if not isinstance(count, int) or not 0 < count <= VARIABLES * lanes:
        return None
    runs = [run for op, value in uses_of(array) for run in [_run(op, value, lanes)]]
    if None in runs:
        return None
    row = max((run for run in runs if run and count % run == 0), default=1)
    return None if element_of(array) == "i1" and row > 1 else row


def uses_of(array: SSAValue) -> Iterator[tuple[Operation, SSAValue]]:
    """Yield the operations that access an array, each with the view by which it does."""
    for use in array.uses:
        if isinstance(use.operation, kernel.ViewOp):
            yield from uses_of(use.operation.result)
        else:
            yield use.operation, array


def _run(op: Operation, view: SSAValue, lanes: int) -> int | None:
    """Return how many elements one access takes from neighbouring ones; None if the array must be in memory."""
    if (found := array_of(view)) is None:
        return None
    if isinstance(op, kernel.CopyOp):
        return 1
    if isinstance(op, kernel.LibraryCallOp) and updates_of(op) is not None:
        return 1 if view not in (op.args[0], op.out) else None
    if not isinstance(op, kernel.ReadOp | kernel.WriteOp) or op.buffer is not view or getattr(op, "odd", None):
        return None
    if accessed(op, lanes, found[1]) is None:
        return None
    type_: Attribute = op.result.type if isinstance(op, kernel.ReadOp) else op.value.type
    extent = type_.get_shape()[-1] if isinstance(type_, VectorType) else 1
    return extent if extent == 1 or op.mixed_strides[-1] == 1 else 1
