"""Statements over boxes as StableHLO operations: iterators are iotas, loads are gathers, monoids are reductions.

This covers every structured operator that has no StableHLO operation of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlc.dialects.graph.base import StructuredOp
from mlc.dialects.semantics.expr import Const, Expr, Index, Load, element_type, walk
from mlc.dialects.semantics.statement import MONOIDS, Statement
from mlc.dialects.types import numpy_dtype
from mlc.export.stablehlo.scalars import Scalars
from mlc.export.stablehlo.writer import Sizes, Value, Writer, ints, sizes, type_of

REDUCTIONS = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum", "and_": "and", "or_": "or"}


def structured(writer: Writer, op: StructuredOp, args: Sequence[Value]) -> Value:
    """Any operator of statements, each of which writes its part of the result."""
    element, shape = type_of(op.results[0])
    made: Value | None = None
    for each in op.statements():
        points = Points(writer, each.iters, sizes(each.bounds), args)
        value, kept = _value(writer, each, points, element)
        direct = _direct(writer, each, value, kept, shape)
        if direct is not None:
            made = direct
            continue
        start = made or writer.splat(0, element, shape)
        made = _placed(writer, each, value, kept, start, args)
    assert made is not None
    return made


def _value(w: Writer, s: Statement, points: Points, element: str) -> tuple[Value, list[int]]:
    """The values at the iterators that are not reduced, whose numbers follow."""
    kept = [n for n, reduced in enumerate(s.reduction) if not reduced]
    inner = element_type(s.value, [x.element for x in points.operands]) or element
    value = points.write(s.value, inner)
    reduced = [n for n in range(len(s.iters)) if n not in kept]
    return (reduction(w, s.monoid or "add", value, reduced) if reduced else value), kept


def _direct(w: Writer, s: Statement, value: Value, kept: Sequence[int], shape: Sizes) -> Value | None:
    """The result where each of its indices is an iterator of its extent, or 0 of 1; None elsewhere."""
    numbers = [_iterator(each, s.iters) for each in s.out]
    used = [n for n in numbers if n is not None]
    rest = [d for n, d in zip(numbers, shape, strict=True) if n is None]
    zeros = [each for each in s.out if each == Const(0)]
    if sorted(used) != sorted(kept) or len(zeros) != len(rest) or any(d != 1 for d in rest):
        return None
    if any(n is not None and s.bounds[n] != d for n, d in zip(numbers, shape, strict=True)):
        return None
    order = [kept.index(n) for n in used]
    turned = transposed(w, value, order)
    return reshaped(w, turned, shape)


def _iterator(index: Expr, iters: Sequence[str]) -> int | None:
    return iters.index(index.name) if isinstance(index, Index) and index.name in iters else None


def _placed(w: Writer, s: Statement, value: Value, kept: Sequence[int], start: Value, args: Sequence[Value]) -> Value:
    """Values written at computed indices, which differ from each other."""
    if 0 in value.shape:
        return start
    points = Points(w, [s.iters[n] for n in kept], value.shape, args)
    where = points.indices(s.out)
    rank = len(start.shape)
    numbers = f"inserted_window_dims = {list(range(rank))}, scatter_dims_to_operand_dims = {list(range(rank))}"
    return scattered(w, "none", start, where, value, f"{numbers}, index_vector_dim = {len(value.shape)}")


def scattered(w: Writer, kind: str, data: Value, where: Value, updates: Value, numbers: str) -> Value:
    """A scatter, with the dimension numbers in text; an update out of bounds is skipped."""

    def write(args: Sequence[Value]) -> list[Value]:
        return [args[1] if kind == "none" else combined(w, kind, args[0], args[1])]

    scalar = (data.element, ())
    (made,) = w.emit_regions(
        "scatter", [data, where, updates], [(data.element, data.shape)], [([scalar, scalar], write)],
        indices_are_sorted="false", scatter_dimension_numbers=f"#stablehlo.scatter<{numbers}>", unique_indices="false",
    )  # fmt: skip
    return made


def combined(w: Writer, monoid: str, x: Value, y: Value) -> Value:
    return w.pointwise(REDUCTIONS[monoid], x.element, x, y)


def reduction(w: Writer, monoid: str, x: Value, axes: Sequence[int]) -> Value:
    """A reduction of dimensions, from the monoid's identity."""
    if not axes:
        return x
    shape = tuple(d for n, d in enumerate(x.shape) if n not in axes)
    scalar = (x.element, ())
    first = identity(w, monoid, x.element)
    (made,) = w.emit_regions(
        "reduce", [x, first], [(x.element, shape)], [([scalar, scalar], lambda a: [combined(w, monoid, *a)])],
        dimensions=ints(axes),
    )  # fmt: skip
    return made


def identity(w: Writer, monoid: str, element: str) -> Value:
    if element == "i1":
        return w.splat(monoid in ("mul", "min", "and_"), element)
    return w.splat(MONOIDS[monoid].identity(np.dtype(numpy_dtype(element))), element)


def transposed(w: Writer, x: Value, order: Sequence[int]) -> Value:
    if list(order) == list(range(len(order))):
        return x
    return w.emit("transpose", [x], x.element, tuple(x.shape[n] for n in order), permutation=ints(order))


def reshaped(w: Writer, x: Value, shape: Sizes) -> Value:
    return x if x.shape == shape else w.emit("reshape", [x], x.element, shape)


def broadcast(w: Writer, x: Value, shape: Sizes, at: Sequence[int]) -> Value:
    """A tensor whose dimensions are those numbered ``at`` of the result; an extent of 1 is repeated."""
    if x.shape == shape and list(at) == list(range(len(shape))):
        return x
    return w.emit("broadcast_in_dim", [x], x.element, shape, broadcast_dimensions=ints(at))


class Points:
    """The points of a box, at which expressions over operands are written."""

    def __init__(self, writer: Writer, iters: Sequence[str], bounds: Sizes, operands: Sequence[Value]) -> None:
        self.writer, self.iters, self.bounds, self.operands = writer, list(iters), tuple(bounds), operands
        elements = [x.element for x in operands]
        self._scalars = Scalars(writer, elements, self.bounds, self._load, self._index)

    def write(self, expr: Expr, element: str) -> Value:
        return self._scalars.write(expr, element)

    def indices(self, exprs: Sequence[Expr]) -> Value:
        """Vectors of indices along a last dimension."""
        shape = (*self.bounds, 1)
        parts = [reshaped(self.writer, self.write(each, "i64"), shape) for each in exprs]
        parts = [each if each.element == "i64" else self.writer.pointwise("convert", "i64", each) for each in parts]
        if len(parts) == 1:
            return parts[0]
        axis = f"{len(self.bounds)} : i64"
        return self.writer.emit("concatenate", parts, "i64", (*self.bounds, len(parts)), dimension=axis)

    def _index(self, name: str) -> Value:
        """An iterator, or the number of an iteration of a loop."""
        if name not in self.iters:
            from mlc.dialects.semantics.dims import parse_dim

            return broadcast(self.writer, self.writer.dim(parse_dim(name)), self.bounds, [])
        axis = f"{self.iters.index(name)} : i64"
        return self.writer.emit("iota", [], "i64", self.bounds, iota_dimension=axis)

    def _load(self, load: Load) -> Value:
        x, index = self.operands[load.operand], list(load.index or ())
        if 0 in self.bounds or 0 in x.shape:
            return self.writer.splat(0, x.element, self.bounds)
        plain = self._plain(x, index)
        squeezed = [n for n, (i, d) in enumerate(zip(index, x.shape, strict=True)) if d == 1 and i == Const(0)]
        if squeezed:
            kept = [n for n in range(len(index)) if n not in squeezed]
            x = reshaped(self.writer, x, tuple(x.shape[n] for n in kept))
            index, plain = [index[n] for n in kept], self._plain(x, [index[n] for n in kept])
        if len(plain) == len(index):
            return broadcast(self.writer, x, self.bounds, [plain[n] for n in range(len(index))])
        return self._gathered(x, index, plain)

    def _plain(self, x: Value, index: Sequence[Expr]) -> dict[int, int]:
        """The axes that are read at an iterator over their whole extent, which no other axis is read at."""
        numbers = {n: _iterator(each, self.iters) for n, each in enumerate(index)}
        named = [e.name for each in index for e in walk(each) if isinstance(e, Index)]
        return {n: i for n, i in numbers.items()
                if i is not None and self.bounds[i] == x.shape[n] and named.count(self.iters[i]) == 1}  # fmt: skip

    def _gathered(self, x: Value, index: Sequence[Expr], plain: dict[int, int]) -> Value:
        """Slices along the plain axes at the computed indices, which vary with some of the iterators."""
        computed = [n for n in range(len(index)) if n not in plain]
        names = {e.name for n in computed for e in walk(index[n]) if isinstance(e, Index)}
        inner = [n for n, name in enumerate(self.iters) if name in names]
        bounds = tuple(self.bounds[n] for n in inner)
        points = Points(self.writer, [self.iters[n] for n in inner], bounds, self.operands)
        where = points.indices([index[n] for n in computed])
        offsets = list(range(len(inner), len(inner) + len(plain)))
        taken = [x.shape[n] if n in plain else 1 for n in range(len(index))]
        numbers = (f"offset_dims = {offsets}, collapsed_slice_dims = {computed}, start_index_map = {computed}, "
                   f"index_vector_dim = {len(inner)}")  # fmt: skip
        shape = (*bounds, *(x.shape[n] for n in sorted(plain)))
        made = self.writer.emit(
            "gather", [x, where], x.element, shape, dimension_numbers=f"#stablehlo.gather<{numbers}>",
            indices_are_sorted="false", slice_sizes=ints(taken),
        )  # fmt: skip
        return broadcast(self.writer, made, self.bounds, [*inner, *(plain[n] for n in sorted(plain))])
