"""Scaled values: a tensor of 8-bit floats times scales, matched in the maps that the import of DequantizeLinear
makes.

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
    """A factor that varies only along ``axis`` of what it scales; ``axis`` is None for a single number."""

    value: SSAValue
    axis: int | None


@dataclass(frozen=True)
class Scaled:
    """``value``, which is a cast of 8-bit floats, times the product of ``scales``."""

    value: SSAValue
    scales: tuple[Scale, ...] = ()


def scaled(value: SSAValue, builder: OpBuilder) -> Scaled | None:
    """Return ``value`` as a cast of 8-bit floats times scales, also through transpositions and padding with 0; None for
    other values."""
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
    """Return whether ``expr`` is a cast of an operand of 8-bit floats that has the shape of the result of ``op``."""
    match expr:
        case Call(fn, (Load(n),)) if fn == element_of(op.result) and element_of(op.args[n]) in FLOAT8:
            return shape_of(op.args[n]) == shape_of(op.result)
    return False


def _operand(expr: Expr, op: MapOp) -> SSAValue | None:
    """Return the f32 operand of ``op`` that ``expr`` loads, if it has the shape of the result; None otherwise. A cast
    to f32 is looked through."""
    match expr:
        case Load(n) | Call("f32", (Load(n),)) if element_of(op.args[n]) == "f32":
            return op.args[n] if shape_of(op.args[n]) == shape_of(op.result) else None
    return None


def _product(factor: Expr, scale: Expr, op: MapOp, builder: OpBuilder) -> Scaled | None:
    """Match ``factor * scale`` in the map ``op``, where ``factor`` is a scaled value and ``scale`` a scale."""
    operand = _operand(factor, op)
    inner = None if operand is None else scaled(operand, builder)
    if inner is None and _is_cast(factor, op):
        inner = Scaled(builder.emit(MapOp.reading(factor, op.args)))
    found = _scale(scale, op, builder) if inner else None
    return replace(inner, scales=(*inner.scales, found)) if inner and found else None


def _scale(expr: Expr, op: MapOp, builder: OpBuilder) -> Scale | None:
    """Return the subexpression ``expr`` of the map ``op`` as a scale of its result; None if it varies along two
    axes."""
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
    """Return the transposed or padded ``x``; None if a scale varies along an axis and ``x`` is padded."""
    if isinstance(move, TransposeOp):
        perm = list(ints_of(move.perm))
        scales = [Scale(s.value, None if s.axis is None else perm.index(s.axis)) for s in x.scales]
        return Scaled(builder.transpose(x.value, perm), tuple(scales))
    if move.number != 0 or any(s.axis is not None for s in x.scales):
        return None
    made = PadOp(x.value, dims_of(move.low), dims_of(move.high), "0", ints_of(move.interior))
    return replace(x, value=builder.emit(made))


def after_sum(op: ContractOp | ConvOp, n: int, scale: Scale, builder: OpBuilder) -> SSAValue | None:
    """Return a scale of operand ``n`` in a shape that broadcasts to the result of ``op``; None if the scale varies
    along a summed axis."""
    if scale.axis is None:
        return builder.reshape(scale.value, ())
    axis, rank = _axis_of_result(op, n, scale.axis), len(shape_of(op.results[0]))
    if axis is None:
        return None
    extent: DimLike = next(d for d in shape_of(scale.value) if d != 1)
    return builder.reshape(scale.value, (extent, *[1] * (rank - axis - 1)))


def _axis_of_result(op: ContractOp | ConvOp, n: int, axis: int) -> int | None:
    """Return the axis of the result that is ``axis`` of operand ``n``; None if ``op`` sums along it."""
    if isinstance(op, ContractOp):
        letter, out = op.terms[n][axis], op.terms[2]
        return out.index(letter) if letter in out else None
    return n if axis == 0 else None  # images; filters, which are channels of the result


def multiplied(value: SSAValue, scales: Sequence[SSAValue], builder: OpBuilder) -> SSAValue:
    """Return ``value`` times ``scales``. Scales of one element are multiplied with each other first."""
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
