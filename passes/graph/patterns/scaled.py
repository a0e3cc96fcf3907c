"""Scaled values: a tensor times scales, as DequantizeLinear writes floats of 8 bits in maps.

A scale of one element, or one for each element of an axis (channels), can be multiplied after a sum of products whose
terms all have it: ``Σ (x·s)(w·t) = (Σ x·w)·s·t``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import SSAValue

from mlc.dialects.graph import ConstantOp, ContractOp, ConvOp, MapOp, PadOp, TransposeOp, dims_of, ints_of
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Call, Const, Expr, Load, loads
from mlc.dialects.types import FLOAT8, element_of, elements_in, shape_of
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import producer


@dataclass(frozen=True)
class Scale:
    """A factor that is equal along all axes but ``axis``; None: of one element."""

    value: SSAValue
    axis: int | None


@dataclass(frozen=True)
class Scaled:
    """``value``, the cast of floats of 8 bits, times scales."""

    value: SSAValue
    scales: tuple[Scale, ...] = ()


def scaled(value: SSAValue, builder: OpBuilder) -> Scaled | None:
    """``value`` as floats of 8 bits that are widened and multiplied by scales, then transposed or padded with 0; None
    for other values."""
    if isinstance(move := value.owner, TransposeOp | PadOp):
        inner = scaled(move.input, builder)
        return _moved(inner, move, builder) if inner else None
    op = producer(value, MapOp)
    if op is None:
        return None
    match op.scalar:
        case Call() if _is_cast(op.scalar, op):
            return Scaled(value)
        case Call("mul", (a, b)):
            products = (_product(factor, scale, op, builder) for factor, scale in ((a, b), (b, a)))
            return next((x for x in products if x is not None), None)
    return None


def _is_cast(expr: Expr, op: MapOp) -> bool:
    """Whether an expression widens floats of 8 bits, as many as the result has."""
    match expr:
        case Call(fn, (Load(n),)) if fn == element_of(op.result) and element_of(op.args[n]) in FLOAT8:
            return shape_of(op.args[n]) == shape_of(op.result)
    return False


def _operand(expr: Expr, op: MapOp) -> SSAValue | None:
    """The operand of a map, as large as its result, whose elements an expression is; casts to their own type aside."""
    match expr:
        case Load(n) | Call("f32", (Load(n),)) if element_of(op.args[n]) == "f32":
            return op.args[n] if shape_of(op.args[n]) == shape_of(op.result) else None
    return None


def _product(factor: Expr, scale: Expr, op: MapOp, builder: OpBuilder) -> Scaled | None:
    """A product in the map ``op`` of what ``factor`` reads and a scale."""
    operand = _operand(factor, op)
    inner = None if operand is None else scaled(operand, builder)
    if inner is None and _is_cast(factor, op):
        inner = Scaled(builder.emit(MapOp.reading(factor, op.args)))
    found = _scale(scale, op, builder) if inner else None
    return replace(inner, scales=(*inner.scales, found)) if inner and found else None


def _scale(expr: Expr, op: MapOp, builder: OpBuilder) -> Scale | None:
    """An expression of a map as a scale of its result; None where it varies along two axes."""
    read, shape = loads(expr), shape_of(op.result)
    if not read:
        number = expr.value if isinstance(expr, Const) else None
        return None if number is None else Scale(builder.emit(ConstantOp(np.array(number, np.float32))), None)
    extents = [shape_of(op.args[load.operand]) for load in read]
    axes = {n - len(each) for each in extents for n, extent in enumerate(each) if extent != 1}
    if len(axes) > 1 or element_of(op.result) != "f32":
        return None
    value = op.args[read[0].operand] if isinstance(expr, Load) else builder.emit(MapOp.reading(expr, op.args))
    return Scale(value, len(shape) + axes.pop() if axes else None) if element_of(value) == "f32" else None


def _moved(x: Scaled, move: TransposeOp | PadOp, builder: OpBuilder) -> Scaled | None:
    """Data movement of what is scaled; None where a scale varies along a padded axis."""
    if isinstance(move, TransposeOp):
        perm = list(ints_of(move.perm))
        scales = [Scale(s.value, None if s.axis is None else perm.index(s.axis)) for s in x.scales]
        return Scaled(builder.transpose(x.value, perm), tuple(scales))
    if move.number != 0 or any(s.axis is not None for s in x.scales):
        return None
    made = PadOp(x.value, dims_of(move.low), dims_of(move.high), "0", ints_of(move.interior))
    return replace(x, value=builder.emit(made))


def after_sum(op: ContractOp | ConvOp, n: int, scale: Scale, builder: OpBuilder) -> SSAValue | None:
    """A scale of operand ``n`` in the shape of the result of a sum of products; None where its terms have several."""
    if scale.axis is None:
        return builder.reshape(scale.value, ())
    axis, rank = _axis_of_result(op, n, scale.axis), len(shape_of(op.results[0]))
    if axis is None:
        return None
    extent: DimLike = next(d for d in shape_of(scale.value) if d != 1)
    return builder.reshape(scale.value, (extent, *[1] * (rank - axis - 1)))


def _axis_of_result(op: ContractOp | ConvOp, n: int, axis: int) -> int | None:
    """The axis of the result along which an axis of operand ``n`` lies; None for one that is summed."""
    if isinstance(op, ContractOp):
        letter, out = op.terms[n][axis], op.terms[2]
        return out.index(letter) if letter in out else None
    return n if axis == 0 else None  # images; filters, which are channels of the result


def multiplied(value: SSAValue, scales: Sequence[SSAValue], builder: OpBuilder) -> SSAValue:
    """``value`` times scales, of which those of one element are multiplied first."""
    ordered = sorted(scales, key=lambda s: elements_in(s) != 1)
    if not ordered:
        return value
    factor = ordered[0]
    for scale in ordered[1:]:
        same = len(shape_of(factor)) in (0, len(shape_of(scale)))
        if not same:  # one a row, another a column
            value, factor = builder.emit(MapOp("x0 * x1", [value, factor])), scale
            continue
        factor = builder.emit(MapOp("x0 * x1", [factor, scale]))
    return builder.emit(MapOp("x0 * x1", [value, factor]))
