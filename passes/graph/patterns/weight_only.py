"""Weight-only quantization: products whose right factor alone is dequantized, from weights of 8 bits.

Scales and zero points that all terms of a result have leave the sum: ``Σ x·(w - z)·s = (Σ x·w - z·Σ x)·s``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, TransposeOp, ints_of
from mlc.dialects.types import FLOAT8, element_of, shape_of
from mlc.dialects.weights import WeightStore
from mlc.passes.graph.patterns.quantized import dequantized, literal
from mlc.passes.graph.patterns.scaled import Scale, after_sum, scaled
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import producer

HALVES = ("f16", "bf16")


@dataclass(frozen=True)
class NarrowWeight:
    """``scale · (value - zero)``, where the elements of ``value`` have 8 bits, and scale and zero point vary along at
    most one axis."""

    value: SSAValue
    scales: tuple[Scale, ...]
    zero: Scale | None = None


def narrow_weight(value: SSAValue, weights: WeightStore, builder: OpBuilder) -> NarrowWeight | None:
    """Return ``value`` as a weight of 8 bits, also through roundings to halves and transpositions; None for other
    values."""
    if isinstance(move := value.owner, TransposeOp):
        inner = narrow_weight(move.input, weights, builder)
        return _transposed(inner, list(ints_of(move.perm)), builder) if inner else None
    if (inner_value := _unrounded(value)) is not None:
        return narrow_weight(inner_value, weights, builder)
    return _of_floats(value, builder) or _of_bytes(value, weights, builder)


def _unrounded(value: SSAValue) -> SSAValue | None:
    """Return the operand of a cast between floats of 16 bits and more; None if ``value`` is no such cast."""
    cast = producer(value, MapOp)
    if cast is None or len(cast.args) != 1 or cast.expr.data != f"{element_of(value)}(x0)":
        return None
    floats = ("f32", *HALVES)
    return cast.args[0] if element_of(value) in floats and element_of(cast.args[0]) in floats else None


def _of_floats(value: SSAValue, builder: OpBuilder) -> NarrowWeight | None:
    found = scaled(value, builder)
    cast = producer(found.value, MapOp) if found else None
    narrow = found and cast and len(cast.args) == 1 and element_of(cast.args[0]) in FLOAT8
    return NarrowWeight(cast.args[0], found.scales) if narrow else None  # type: ignore[union-attr]


def _of_bytes(value: SSAValue, weights: WeightStore, builder: OpBuilder) -> NarrowWeight | None:
    """Match dequantized bytes. Unsigned bytes with the zero point 128 become signed bytes with the zero point 0."""
    found = dequantized(value, builder)
    if found is None or found.scale is None:
        return None
    held, zero, scale = found.value, found.zero, _along(found.scale, found.value)
    number = literal(found, weights)
    if number == 128 and element_of(held) == "ui8":
        held, zero = builder.emit(MapOp("i8(i32(x0) - 128)", [held])), None
    elif number == 0:
        zero = None
    offset = _along(builder.emit(MapOp("f32(x0)", [zero])), held) if zero is not None else None
    if scale is None or (zero is not None and offset is None):
        return None
    return NarrowWeight(held, (scale,), offset)


def _along(value: SSAValue, whole: SSAValue) -> Scale | None:
    """Return a parameter that broadcasts to ``whole`` as a scale; None if it varies along two axes."""
    shape, rank = shape_of(value), len(shape_of(whole))
    axes = [rank - len(shape) + n for n, extent in enumerate(shape) if extent != 1]
    return Scale(value, axes[0] if axes else None) if len(axes) < 2 else None


def _transposed(x: NarrowWeight, perm: list[int], builder: OpBuilder) -> NarrowWeight:
    def moved(scale: Scale) -> Scale:
        return Scale(scale.value, None if scale.axis is None else perm.index(scale.axis))

    zero = moved(x.zero) if x.zero else None
    return NarrowWeight(builder.transpose(x.value, perm), tuple(map(moved, x.scales)), zero)


def without_offset(op: ContractOp, total: SSAValue, left: SSAValue, zero: SSAValue, builder: OpBuilder) -> SSAValue:
    """Return ``Σ x·w - z·Σ x``. ``total``: Σ x·w, the result of ``op``; ``left``: x; ``zero``: z in the shape of the
    result."""
    lhs, _, _ = op.terms
    summed = [n for n, letter in enumerate(lhs) if letter not in op.terms[2]]
    wide = left if element_of(left) == "f32" else builder.emit(MapOp("f32(x0)", [left]))
    sums = builder.emit(ReduceOp("add", wide, summed, True))
    return builder.emit(MapOp("x0 - x1 * x2", [total, sums, zero]))


def sums_rows(op: ContractOp) -> bool:
    """Return whether the left operand of ``op`` has the axes of the result except for the last: its last axis is
    summed. Then its row sums, with their dimension kept, broadcast to the result."""
    lhs, rhs, out = op.terms
    return lhs[:-1] == out[:-1] and lhs[-1:] != out[-1:] and lhs[-1] in rhs and lhs[-1] not in out


def out_of_sum(
    op: ContractOp, weight: NarrowWeight, builder: OpBuilder
) -> tuple[list[SSAValue], SSAValue | None] | None:
    """Return the scales and the zero point of the right operand in shapes that broadcast to the result; None if one
    varies along a summed axis."""
    scales = [after_sum(op, 1, s, builder) for s in weight.scales]
    zero = after_sum(op, 1, weight.zero, builder) if weight.zero else None
    known = [s for s in scales if s is not None]
    if len(known) < len(scales) or (weight.zero and (zero is None or not sums_rows(op))):
        return None
    return known, zero
