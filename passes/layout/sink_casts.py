"""Cast sinking (``sink-casts``): a contraction widens its operands itself.

    %a = graph.map "f32(x0)"(%x)               %c = graph.contract "mk,kn->mn"(%x, %w) {product = "f32(x0) * f32(x1)"} :
    %b = graph.map "f32(x0)"(%w)           →        (tensor<8x16xf16>, tensor<16x4xf16>) -> tensor<8x4xf32>
    %c = graph.contract "mk,kn->mn"(%a, %b)

Operands then stay narrow in memory, and those of 16 and 8 bits reach the tensor cores as they are. Data movement
between a cast and a product moves narrow elements: the derivatives of convolutions transpose images and reverse
filters. Results keep their bits, because the products are still those of the widened operands. Bytes are widened to
i32, halves and floats of 8 bits to f32; either both operands of a product are widened, or neither. Floats of 8 bits
that were cast to halves first are widened from 8 bits. Constants of f32 that halves hold exactly, such as small weights
that an importer has widened, become halves again.

A scale of dequantized floats of 8 bits is multiplied after the sum if all terms of a result have it: the scale of a
tensor, of a row or of a column. Multiplying the sum rounds once, multiplying each term rounds each time, so
``numerics = strict`` leaves scales before the sum:

    %a = graph.map "f32(x0) * 0.5"(%x)                     %c = graph.contract "mk,kn->mn"(%x, %w) {product = …}
    %b = graph.map "f32(x0) * x1"(%w, %s)             →    %d = graph.map "x0 * x1"(%c, 0.5 · %s)
    %d = graph.contract "mk,kn->mn"(%a, %b)

The scale and the zero point of a constant of 8 bits that a contraction multiplies with halves or f32 (weight-only
quantization) are applied after the sum too. The constant stays as it is stored, and is widened where it is multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import (
    ConstantOp,
    ContractOp,
    ConvOp,
    MapOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
    WeightOp,
    dims_of,
    ints_of,
)
from mlc.dialects.types import FLOAT8, element_of, numpy_dtype
from mlc.dialects.weights import WeightStore
from mlc.passes.context import weights_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.graph.patterns.scaled import after_sum, multiplied, scaled
from mlc.passes.graph.patterns.weight_only import narrow_weight, out_of_sum, without_offset
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused, producer

WIDENED = {"f32": ("f16", "bf16", *FLOAT8), "i32": ("i8", "ui8")}
"""For each element type of products, the narrower types whose products it represents exactly, or with more bits than
they have."""
Move = TransposeOp | PadOp | ReshapeOp | SliceOp
EXACT = WIDENED | {"f16": FLOAT8, "bf16": FLOAT8}  # casts that keep each value


@dataclass(frozen=True)
class SinkCasts(ModulePass):
    """Let products read narrow operands. ``numerics``: ``strict`` keeps multiplications by scales before the sums."""

    name = "sink-casts"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for anchor in [o for o in body.ops if isinstance(o, ContractOp | ConvOp)]:
                _sink(anchor, self.numerics, weights_of(ctx), constants)
        eliminate_dead(op)


def _sink(op: ContractOp | ConvOp, numerics: str, weights: WeightStore, constants: set[SSAValue]) -> None:
    element = element_of(op.results[0])
    if op.product or op.layouts or element not in WIDENED:
        return
    pair, scales, zero = None, list[SSAValue](), None
    scaling = element == "f32" and numerics != "strict"
    if scaling and isinstance(op, ContractOp):
        pair, scales, zero = _weight_only(op, weights, constants)
    if pair is None:
        pair = _factors(op, op.operands, element, weights)
    if pair is None and scaling:
        pair, scales = _dequantized(op, weights)
    if pair is None:
        return
    lhs, rhs = pair
    product = StringAttr(f"{element}(x0) * {element}(x1)")
    made: ContractOp | ConvOp
    if isinstance(op, ContractOp):
        made = ContractOp(op.equation.data, lhs, rhs, product=product)
    else:
        made = ConvOp(lhs, rhs, *op.window, op.groups.value.data, product=product)
    total = OpBuilder(op).emit(made)
    if zero is not None and isinstance(op, ContractOp):
        total = without_offset(op, total, lhs, zero, OpBuilder(op))
    result = multiplied(total, scales, OpBuilder(op))
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    erase_unused([op])


def _factors(op: Operation, operands: Sequence[SSAValue], element: str, weights: WeightStore) -> list[SSAValue] | None:
    """Return the narrowest operands for the product ``op``; None if ``operands`` are not both widened, or from types
    that cannot be multiplied with each other."""
    narrow = [narrowed(v, element) for v in operands]
    types = [element_of(v) for v in narrow if v is not None]
    if element == "f32" and len(types) == 1:
        narrow = [n or _rounded(v, types[0], weights, OpBuilder(op)) for n, v in zip(narrow, operands, strict=True)]
    found = [v for v in narrow if v is not None]
    if len(found) < 2 or element != "f32":
        return found if len(found) == 2 else None
    narrowest = [v if element_of(v) in FLOAT8 else narrowed(v, element_of(v)) for v in found]
    floats = [v for v in narrowest if v is not None]
    if len(floats) == 2:
        return floats
    return found if len({element_of(v) for v in found}) == 1 else None


def _dequantized(op: ContractOp | ConvOp, weights: WeightStore) -> tuple[list[SSAValue] | None, list[SSAValue]]:
    """Return the operands without their scales, and the scales in shapes that broadcast to the result. Return (None,
    []) unless both operands are floats of 8 bits whose scales can be multiplied after the sum."""
    builder = OpBuilder(op)
    found = [x for v in op.operands if (x := scaled(v, builder)) is not None]
    pair = _factors(op, [x.value for x in found], "f32", weights)
    if pair is None:
        return None, []
    scales = [after_sum(op, n, scale, builder) for n, x in enumerate(found) for scale in x.scales]
    known = [s for s in scales if s is not None]
    return (pair, known) if len(known) == len(scales) else (None, [])


def _weight_only(
    op: ContractOp, weights: WeightStore, constants: set[SSAValue]
) -> tuple[list[SSAValue] | None, list[SSAValue], SSAValue | None]:
    """Return the left operand as it is stored and the right operand, a constant of 8 bits; the scales; and the zero
    point, both to be applied after the sum. Return None in place of the operands if the product has another form."""
    builder = OpBuilder(op)
    found = narrow_weight(op.rhs, weights, builder) if op.rhs in constants and op.lhs not in constants else None
    left = narrow_weight(op.lhs, weights, builder) if found else None
    outside = out_of_sum(op, found, builder) if found else None
    if found is None or outside is None or (left and {element_of(v.value) for v in (left, found)} <= {*FLOAT8}):
        return None, [], None
    return [narrowed(op.lhs, "f32") or op.lhs, found.value], *outside


def narrowed(value: SSAValue, element: str) -> SSAValue | None:
    """Return the operand of the cast that widens ``value``; data movement after the cast is repeated on this operand.
    Return None if there is no such cast."""
    if isinstance(move := value.owner, Move):
        fixed = isinstance(move, PadOp) and move.number != 0 or isinstance(move, ReshapeOp) and move.barrier is not None
        inner = None if fixed else narrowed(move.input, element)
        if inner is None:
            return None
        return OpBuilder(move).emit(_moved(move, inner))
    cast = producer(value, MapOp)
    whole = cast is not None and cast.expr.data == f"{element}(x0)" and len(cast.args) == 1
    return cast.args[0] if cast and whole and element_of(cast.args[0]) in EXACT.get(element, ()) else None


def _rounded(value: SSAValue, element: str, weights: WeightStore, builder: OpBuilder) -> SSAValue | None:
    """Return a constant as one of element type ``element``, if that type holds all its values exactly; None
    otherwise."""
    owner = value.owner
    if not isinstance(owner, WeightOp | ConstantOp):
        return None
    if isinstance(owner, WeightOp) and not weights.knows(owner.entry.data):
        return None
    array = weights[owner.entry.data] if isinstance(owner, WeightOp) else owner.array()
    with np.errstate(over="ignore"):
        exact = np.array_equal(array.astype(numpy_dtype(element)).astype(array.dtype), array, equal_nan=True)
    return builder.emit(MapOp(f"{element}(x0)", [value])) if exact else None


def _moved(move: Move, inner: SSAValue) -> Operation:
    match move:
        case TransposeOp():
            return TransposeOp(inner, ints_of(move.perm))
        case ReshapeOp():
            return ReshapeOp(inner, dims_of(move.shape))
        case SliceOp():
            return SliceOp(inner, dims_of(move.starts), dims_of(move.sizes), ints_of(move.steps))
    return PadOp(inner, dims_of(move.low), dims_of(move.high), "0", ints_of(move.interior))
