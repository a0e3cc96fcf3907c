"""Clamp computed indices: reads stay inside their operand, whatever an index is at run time.

    x0[x1[i0], i1]   →   x0[min(max(x1[i0], 0), 511), i1]      of x0: 512 rows, x1: indices known only at run time

ONNX calls an index out of range an error, which compiled kernels cannot raise: they read the nearest element instead.
An index that provably is in range (of a known table, or clamped by the expression itself) stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.semantics.expr import (
    COMPARISONS,
    Call,
    Const,
    Expr,
    ExprError,
    Index,
    Load,
    children,
    element_type,
    loads,
    parse,
    walk,
)
from mlc.frontends.build.folding.comparisons import at_least, bound_max, bound_min
from mlc.frontends.build.tensors import Tensor

Range = tuple[DimLike | None, DimLike | None]  # the least and the greatest value; None where there is no bound
WHOLE = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "i1")
UNKNOWN: Range = (None, None)


def clamp_indices(expr: Expr, xs: Sequence[Tensor], extents: Mapping[str, DimLike]) -> Expr:
    """``expr`` with the indices of its loads clamped where they could leave the operand. ``extents``: of iterators.

    Raises:
        ExprError: there is no element to read.
    """
    match expr:
        case Call(fn=fn, args=args):
            return Call(fn, tuple(clamp_indices(a, xs, extents) for a in args))
        case Load(operand=n, index=index) if index is not None and len(index) == xs[n].rank:
            inner = [clamp_indices(i, xs, extents) for i in index]
            return Load(n, tuple(_clamped(i, d, xs, extents) for i, d in zip(inner, xs[n].shape, strict=True)))
    return expr


def clamped_extents(expr: Expr, xs: Sequence[Tensor]) -> Iterator[tuple[Dim, set[str]]]:
    """The symbolic extents of what indices read that depend on data, each with the iterators that its index names.

    Not those of inputs that are read on one side of a ``where``, as there a padding of no elements chooses the other.
    """
    always = set(_read_always(expr))
    for load in loads(expr):
        for index, extent in zip(load.index or (), xs[load.operand].shape, strict=False):
            if isinstance(extent, Dim) and loads(index) and (load in always or not at_least(extent, 1)):
                yield extent, {node.name for node in walk(index) if isinstance(node, Index)}


def _read_always(expr: Expr) -> Iterator[Load]:
    """The loads that are on no side of a ``where``."""
    if isinstance(expr, Load):
        yield expr
    chooses = isinstance(expr, Call) and expr.fn == "where"
    for child in children(expr)[: 1 if chooses else None]:
        yield from _read_always(child)


def static_ranges(
    expr: Expr, xs: Sequence[Tensor], extents: Mapping[str, DimLike]
) -> Iterator[tuple[Expr, Range, DimLike]]:
    """Indices that depend on no data, each with its exact range and the extent of what it reads."""
    for load in loads(expr):
        for index, extent in zip(load.index or (), xs[load.operand].shape, strict=False):
            names = [node.name for node in walk(index) if isinstance(node, Index)]
            if not loads(index) and len(set(names)) == len(names) and "where" not in str(index):
                yield index, range_of(index, xs, extents), extent


def _clamped(index: Expr, extent: DimLike, xs: Sequence[Tensor], extents: Mapping[str, DimLike]) -> Expr:
    if not loads(index) or 0 in extents.values():  # nothing is read for no elements
        return index
    low, high = range_of(index, xs, extents)
    if extent == 0:
        raise ExprError("it reads from a tensor without elements")
    under, over = low is None or not at_least(low, 0), high is None or not at_least(extent - 1, high)
    if (under or over) and element_type(index, [x.element for x in xs]) not in _wide_enough(extent):
        index = Call("i64", (index,))
    index = Call("max", (index, Const(0))) if under else index
    return Call("min", (index, parse(str(extent - 1)))) if over else index


def _wide_enough(extent: DimLike) -> tuple[str | None, ...]:
    """The element types in which an index of a dimension is clamped."""
    return (None, "i64", "i32") if isinstance(extent, int) and extent < 1 << 31 else (None, "i64")


def range_of(expr: Expr, xs: Sequence[Tensor], extents: Mapping[str, DimLike]) -> Range:
    """The interval of values that a whole-number expression may take."""
    match expr:
        case Const(value=int() as value):
            return int(value), int(value)
        case Index(name=name):
            return (0, extents[name] - 1) if name in extents else (Dim.symbol(name), Dim.symbol(name))
        case Load(operand=n):
            return _of_tensor(xs[n])
        case Call(fn=fn) if fn in COMPARISONS:
            return 0, 1
        case Call(fn="i64" | "i32", args=[arg]):
            whole = element_type(arg, [x.element for x in xs]) in (None, *WHOLE)
            return range_of(arg, xs, extents) if whole else UNKNOWN
        case Call(fn="where", args=[_, a, b]):
            (low, high), (other_low, other_high) = range_of(a, xs, extents), range_of(b, xs, extents)
            return _both(bound_min, low, other_low), _both(bound_max, high, other_high)
        case Call(fn="neg", args=[arg]):
            return _of_two("sub", (0, 0), range_of(arg, xs, extents))
        case Call(fn=fn, args=[a, b]):
            return _of_two(fn, range_of(a, xs, extents), range_of(b, xs, extents))
    return UNKNOWN


def is_within(expr: str, xs: Sequence[Tensor]) -> bool:
    """Whether ``max(x0, n)`` or ``min(x0, n)`` is x0 whatever it is."""
    match parse(expr):
        case Call(fn="max" | "min" as fn, args=(Load(operand=0), Const(value=int() as bound))) if len(xs) == 1:
            low, high = xs[0].range
            return bool(at_least(low, bound) if fn == "max" and low is not None else
                        at_least(bound, high) if fn == "min" and high is not None else False)  # fmt: skip
    return False


def _of_tensor(x: Tensor) -> Range:
    if x.known is not None and x.known.dtype.kind in "iub" and x.known.size:
        return int(x.known.min()), int(x.known.max())
    return (0, 1) if x.element == "i1" else (0, None) if x.element.startswith("ui") else x.range


def _of_two(fn: str, a: Range, b: Range) -> Range:
    match fn:
        case "add":
            return _both(lambda x, y: x + y, a[0], b[0]), _both(lambda x, y: x + y, a[1], b[1])
        case "sub":
            return _both(lambda x, y: x - y, a[0], b[1]), _both(lambda x, y: x - y, a[1], b[0])
        case "max":
            return _either(bound_max, a[0], b[0]), _both(bound_max, a[1], b[1])
        case "min":
            return _both(bound_min, a[0], b[0]), _either(bound_min, a[1], b[1])
    if fn == "mul" and (b[0] is None or b[0] != b[1]):
        a, b = b, a
    if b[0] is None or b[0] != b[1] or not at_least(b[0], int(fn != "mul")):
        return UNKNOWN
    match fn:  # by a number that is not negative
        case "mul":
            return _both(lambda x, y: x * y, a[0], b[0]), _both(lambda x, y: x * y, a[1], b[0])
        case "floordiv":
            return _both(lambda x, y: x // y, a[0], b[0]), _both(lambda x, y: x // y, a[1], b[0])
        case "mod":
            return 0, b[0] - 1
    return UNKNOWN


def _both(combine: object, a: DimLike | None, b: DimLike | None) -> DimLike | None:
    return None if a is None or b is None else combine(a, b)  # type: ignore[operator]


def _either(combine: object, a: DimLike | None, b: DimLike | None) -> DimLike | None:
    return b if a is None else a if b is None else combine(a, b)  # type: ignore[operator]
