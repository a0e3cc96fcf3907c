"""Short functions for the operators of which derivatives consist."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from mlc.dialects.autodiff.scalar import total
from mlc.dialects.graph import BroadcastOp, ComputeOp, MapOp, PadOp, ReduceOp, ReshapeOp, SliceOp, TransposeOp
from mlc.dialects.semantics.dims import DimLike, floordiv
from mlc.dialects.semantics.expr import Call, Expr, Load, loads, parse, rename_operands
from mlc.dialects.types import Shape, element_of, shape_of

Emit = Callable[[Operation], SSAValue]
Adjoints = list[SSAValue | None]  # one for each operand; None: 0
WIDE = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}
"""The element type in which elements are summed."""


def mapped(emit: Emit, expr: str | Expr, *xs: SSAValue) -> SSAValue:
    """Emit an elementwise expression of the operands in ``xs`` that it reads; return the operand itself if ``expr`` is
    ``x0``."""
    text, args = _used(expr, xs)
    return args[0] if text == "x0" else emit(MapOp(text, args))


def computed(
    emit: Emit, expr: str | Expr, xs: Sequence[SSAValue], shape: Sequence[DimLike], reduce: Sequence[DimLike] = ()
) -> SSAValue:
    """Emit a ``graph.compute`` of the operands in ``xs`` that ``expr`` reads, summed over ``reduce``. Sums of 16-bit
    floats accumulate in f32."""
    text, args = _used(expr, xs)
    if not reduce:
        return emit(ComputeOp(text, args, shape))
    plain = ComputeOp(text, args, shape, reduce, "add")
    element = element_of(plain.result)
    wide = plain if WIDE[element] == element else ComputeOp(f"{WIDE[element]}({text})", args, shape, reduce, "add")
    return cast(emit, emit(wide), element)


def _used(expr: str | Expr, xs: Sequence[SSAValue]) -> tuple[str, list[SSAValue]]:
    expr = parse(expr) if isinstance(expr, str) else expr
    used = sorted({load.operand for load in loads(expr)})
    position = [used.index(n) if n in used else 0 for n in range(len(xs))]
    return str(rename_operands(expr, position)), [xs[n] for n in used]


def cast(emit: Emit, x: SSAValue, element: str) -> SSAValue:
    return x if element_of(x) == element else mapped(emit, Call(element, (Load(0),)), x)


def filled(emit: Emit, value: int, element: str, shape: Sequence[DimLike]) -> SSAValue:
    """Emit a tensor with all elements equal."""
    return emit(ComputeOp(f"{element}({value})", [], shape))


def added(emit: Emit, parts: Sequence[SSAValue]) -> SSAValue | None:
    """Emit the sum of tensors of one type; return None for no tensors."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return mapped(emit, total([Load(n) for n in range(len(parts))]), *parts)


def reshaped(emit: Emit, x: SSAValue, shape: Sequence[DimLike]) -> SSAValue:
    return x if shape_of(x) == tuple(shape) else emit(ReshapeOp(x, shape))


def stretched(emit: Emit, x: SSAValue, shape: Sequence[DimLike]) -> SSAValue:
    return x if shape_of(x) == tuple(shape) else emit(BroadcastOp(x, shape))


def summed(emit: Emit, x: SSAValue, axes: Sequence[int], keepdims: bool = False) -> SSAValue:
    """Emit the sum along ``axes``. Sums of 16-bit floats accumulate in f32."""
    element = element_of(x)
    return cast(emit, emit(ReduceOp("add", cast(emit, x, WIDE[element]), axes, keepdims)), element)


def summed_to(emit: Emit, x: SSAValue, shape: Shape) -> SSAValue:
    """Emit the sum over the axes along which a tensor of ``shape`` was broadcast to the shape of ``x``."""
    had = shape_of(x)
    lead = len(had) - len(shape)
    axes = [n for n, d in enumerate(had) if n < lead or (shape[n - lead] == 1 and d != 1)]
    return reshaped(emit, summed(emit, x, axes) if axes else x, shape)


def moved_back(emit: Emit, x: SSAValue, perm: Sequence[int]) -> SSAValue:
    """Emit the inverse of a transposition by ``perm``."""
    return emit(TransposeOp(x, [list(perm).index(n) for n in range(len(perm))]))


def reversed_along(emit: Emit, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Emit ``x`` with the elements along ``axes`` in reverse order."""
    if not axes:
        return x
    shape = shape_of(x)
    starts = [d - 1 if n in axes else 0 for n, d in enumerate(shape)]
    return emit(SliceOp(x, starts, shape, [-1 if n in axes else 1 for n in range(len(shape))]))


def swapped(emit: Emit, filters: SSAValue, groups: int) -> SSAValue:
    """Emit filters [G·F, C, K…] as [G·C, F, K…]: the input and the output channels of each group change their roles."""
    f, c, *taps = shape_of(filters)
    axes = range(2, 2 + len(taps))
    if groups == 1:
        return emit(TransposeOp(filters, [1, 0, *axes]))
    each = floordiv(f, groups)
    moved = emit(TransposeOp(reshaped(emit, filters, (groups, each, c, *taps)), [0, 2, 1, *(n + 1 for n in axes)]))
    return reshaped(emit, moved, (groups * c, each, *taps))


def padded(
    emit: Emit, x: SSAValue, low: Sequence[DimLike], high: Sequence[DimLike], between: Sequence[int]
) -> SSAValue:
    """Emit ``x`` with zeros before, after and between its elements; return ``x`` if all widths are 0."""
    return emit(PadOp(x, low, high, "0", between)) if any(p != 0 for p in (*low, *high, *between)) else x


def cut(
    emit: Emit, x: SSAValue, starts: Sequence[DimLike], sizes: Sequence[DimLike], steps: Sequence[int]
) -> SSAValue:
    """Emit a slice of ``x``; return ``x`` if the slice is all of it."""
    return x if shape_of(x) == tuple(sizes) else emit(SliceOp(x, starts, sizes, steps))
