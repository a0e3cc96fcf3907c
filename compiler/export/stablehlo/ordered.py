"""Sorts, running sums, and scatters of rows."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects import graph
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import is_float
from mlc.export.stablehlo.statements import combined, identity, reshaped, scattered
from mlc.export.stablehlo.writer import Sizes, Value, Writer, ints, sizes, type_of


def argsort(w: Writer, op: graph.ArgsortOp, args: Sequence[Value]) -> Value:
    """A stable sort of the columns of vectors and their numbers; of the result's room only ``count`` is specified."""
    (x,), (element, shape) = args, type_of(op.result)
    rows, size, width = x.shape
    (count,) = sizes([parse_dim(op.count.data)])
    columns = [reshaped(w, _part(w, x, (0, 0, n), (rows, size, 1)), (rows, size)) for n in range(width)]
    number = w.emit("iota", [], "i64", (rows, size), iota_dimension="1 : i64")
    scalars = [(each.element, ()) for each in (*columns, number) for _ in range(2)]
    found = w.emit_regions(
        "sort", [*columns, number], [(each.element, (rows, size)) for each in (*columns, number)],
        [(scalars, lambda a: [_before(w, a[: 2 * width], bool(op.descending))])], dimension="1 : i64",
        is_stable="true",
    )[-1]  # fmt: skip
    first = _part(w, found, (0, 0), (rows, count))
    room = shape[1] - count
    if not room:
        return first
    return w.emit("pad", [first, w.splat(0, element)], element, shape, edge_padding_low=ints([0, 0]),
                  edge_padding_high=ints([0, room]), interior_padding=ints([0, 0]))  # fmt: skip


def _part(w: Writer, x: Value, start: Sequence[int], shape: Sizes) -> Value:
    if x.shape == shape:
        return x
    ends = [a + n for a, n in zip(start, shape, strict=True)]
    strides = ints([1] * len(shape))
    return w.emit("slice", [x], x.element, shape, start_indices=ints(start), limit_indices=ints(ends), strides=strides)


def _before(w: Writer, pairs: Sequence[Value], descending: bool) -> Value:
    """Whether a vector comes before another: by its first element that differs. NaN is greater than all numbers."""
    made: Value | None = None
    for x, y in reversed(list(zip(pairs[::2], pairs[1::2], strict=True))):
        a, b = (y, x) if descending else (x, y)
        less = _less(w, a, b)
        if made is not None:
            neither = w.pointwise("not", "i1", w.pointwise("or", "i1", less, _less(w, b, a)))
            less = w.pointwise("or", "i1", less, w.pointwise("and", "i1", neither, made))
        made = less
    assert made is not None
    return made


def _less(w: Writer, a: Value, b: Value) -> Value:
    less = w.compare("LT", a, b)
    if not is_float(a.element):
        return less
    only = w.pointwise("and", "i1", w.compare("EQ", a, a), w.compare("NE", b, b))
    return w.pointwise("or", "i1", less, only)


def scan(w: Writer, op: graph.ScanOp, args: Sequence[Value]) -> Value:
    """A window over all elements before each one."""
    (x,), monoid = args, op.monoid.data
    if 0 in x.shape:
        return x
    if bool(op.reverse):
        x = w.emit("reverse", [x], x.element, x.shape, dimensions=ints([1]))
    first, (rows, size, width) = identity(w, monoid, x.element), x.shape
    if bool(op.exclusive):
        kept = _part(w, x, (0, 0, 0), (rows, size - 1, width))
        x = w.emit("pad", [kept, first], x.element, x.shape, edge_padding_low=ints([0, 1, 0]),
                   edge_padding_high=ints([0, 0, 0]), interior_padding=ints([0, 0, 0]))  # fmt: skip
    scalar, ones = (x.element, ()), ints([1, 1, 1])
    (made,) = w.emit_regions(
        "reduce_window", [x, first], [(x.element, x.shape)], [([scalar, scalar], lambda a: [combined(w, monoid, *a)])],
        window_dimensions=ints([1, size, 1]), window_strides=ones, window_dilations=ones, base_dilations=ones,
        padding=f"dense<[[0, 0], [{size - 1}, 0], [0, 0]]> : tensor<3x2xi64>",
    )  # fmt: skip
    return w.emit("reverse", [made], made.element, made.shape, dimensions=ints([1])) if bool(op.reverse) else made


def scatter(w: Writer, op: graph.ScatterOp, args: Sequence[Value]) -> Value:
    data, indices, updates = args
    if 0 in updates.shape or 0 in data.shape:
        return data
    numbers = ("update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
               "index_vector_dim = 1")  # fmt: skip
    return scattered(w, op.reduction.data, data, reshaped(w, indices, (*indices.shape, 1)), updates, numbers)
