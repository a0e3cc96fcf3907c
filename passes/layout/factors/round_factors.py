"""Rounded factors (``round-factors``): products of f32 and constant weights multiply bf16, and add in f32.

    %y = graph.contract "mk,kn->mn"(%x, %w)

  → %a = graph.map "bf16(x0)"(%x), %b = graph.map "bf16(x0)"(%w)
    %y = graph.contract "mk,kn->mn"(%a, %b) {product = "f32(x0) * f32(x1)"}

A machine with an instruction for pairs of bf16 makes twice as many products a second, and weights take half the memory.
That belongs to ``numerics = "relaxed"``. In a model of bf16 the factors are rounded already, so that by default their
casts to f32 are left out (``exactly``). Products that the layouts of pairs do not fit stay as they are: depthwise
convolutions, sums of few terms and results of few columns. So do convolutions that Winograd's tiles make faster still,
without the rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, ConvOp, MapOp, PadOp, dims_of, ints_of
from mlc.dialects.graph.minimal_filtering import TAPS
from mlc.dialects.types import element_of, shape_of
from mlc.passes.context import target_of
from mlc.passes.cost.winograd_time import best_tile
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.layout.blocking.packed_products import OF_HALVES
from mlc.passes.layout.sink_casts import narrowed
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import CpuTarget

TERMS = 32  # of a sum, from which on the products outweigh the rounding of the left operand
COLUMNS = 16  # of a result: a vector
FASTER = 2.1  # the least estimated speedup by Winograd's tiles for which these are taken: pairs have 2


@dataclass(frozen=True)
class RoundFactors(ModulePass):
    """Round the factors of products with constant weights to bf16, where the target multiplies pairs of these.

    ``exactly``: only products whose factors are cast from bf16, and keep their values.
    """

    name = "round-factors"
    exactly: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not target_of(ctx).multiplies_pairs:
            return
        for body in bodies(op):
            constants, rounded = constant_values(body), dict[SSAValue, SSAValue]()
            for each in [o for o in body.ops if isinstance(o, ContractOp | ConvOp)]:
                plain = element_of(each.result) == "f32" and not each.product and not each.layouts
                if plain and _pays(each, constants) and (self.exactly or not _has_fewer_products(each, target_of(ctx))):
                    _round(each, _stored(each) if self.exactly else _rounded(each, rounded))
        eliminate_dead(op)


def _pays(op: ContractOp | ConvOp, constants: set[SSAValue]) -> bool:
    if isinstance(op, ContractOp):
        return _is_matrix_product(op, constants)
    shape, groups = shape_of(op.weight), op.groups.value.data
    if op.weight not in constants or op.input in constants or not all(isinstance(d, int) for d in shape):
        return False
    filters, channels, *window = (int(d) for d in shape)  # type: ignore[arg-type]
    whole = groups == 1 or channels % COLUMNS == 0 and filters % (groups * COLUMNS) == 0
    return whole and filters >= COLUMNS and channels >= COLUMNS and channels * math.prod(window) >= TERMS


def _has_fewer_products(op: ContractOp | ConvOp, target: CpuTarget) -> bool:
    """Return whether Winograd's tiles make a convolution in f32 faster than pairs do, by the estimates."""
    if not isinstance(op, ConvOp) or shape_of(op.weight)[2:] != (TAPS, TAPS):
        return False
    known = all(isinstance(d, int) and d for d in shape_of(op.result)[1:])
    plain = op.window == ((1, 1), (1, 1)) and op.groups.value.data == 1
    return known and plain and best_tile(op, True, target, FASTER) > 0


def _is_matrix_product(op: ContractOp, constants: set[SSAValue]) -> bool:
    """Return whether one operand is a constant matrix of one letter of the sum and one of the result."""
    constant = [v in constants for v in op.operands]
    letters, out = op.terms[constant.index(True)] if any(constant) else "", op.terms[2]
    if all(constant) or len(letters) != 2:
        return False
    extents, summed = op.extents(), [c for c in op.extents() if c not in out]
    columns = [extents[c] for c in letters if c in out]
    plain = len(summed) == 1 and len(columns) == 1 and all(summed[0] in term for term in op.terms[:2])
    sizes = [extents[c] for c in summed] + columns
    return plain and all(isinstance(n, int) and n >= least for n, least in zip(sizes, (TERMS, COLUMNS), strict=True))


def _round(op: ContractOp | ConvOp, factors: Sequence[SSAValue]) -> None:
    """Replace ``op`` by the product of ``factors``, if there are two."""
    if len(factors) < 2:
        return
    lhs, rhs = factors
    made: ContractOp | ConvOp
    if isinstance(op, ContractOp):
        made = ContractOp(op.equation.data, lhs, rhs, OF_HALVES)
    else:
        made = ConvOp(lhs, rhs, *op.window, op.groups.value.data, OF_HALVES)
    OpBuilder(op).emit(made)
    made.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(made.result)
    erase_unused([op])


def _stored(op: ContractOp | ConvOp) -> list[SSAValue]:
    """Return the factors of ``op`` that are bf16, cast to f32."""
    found = [narrowed(v, "f32") for v in op.operands]
    return [v for v in found if v is not None and element_of(v) == "bf16"]


def _rounded(op: ContractOp | ConvOp, rounded: dict[SSAValue, SSAValue]) -> list[SSAValue]:
    return [_in_bf16(v, OpBuilder(op), rounded) for v in op.operands]


def _in_bf16(value: SSAValue, builder: OpBuilder, rounded: dict[SSAValue, SSAValue]) -> SSAValue:
    """Return ``value`` in bf16; a padding with zeros pads what is rounded."""
    pad = value.owner
    if value not in rounded:
        if isinstance(pad, PadOp) and pad.number == 0:
            inner = _in_bf16(pad.input, builder, rounded)
            moved = PadOp(inner, dims_of(pad.low), dims_of(pad.high), "0", ints_of(pad.interior))
            rounded[value] = builder.emit(moved)
        else:
            rounded[value] = builder.emit(MapOp("bf16(x0)", [value]))
    return rounded[value]
