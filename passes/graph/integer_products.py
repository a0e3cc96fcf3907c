"""Quantized contractions (``integer-products``): a product of dequantized bytes and constant weights is computed in
integers.

    %a = graph.map "f32(i32(x0) - 3) * 0.5"(%x)      %p = graph.contract "mk,kn->mn"(%x, %w) {product = "i32(x0) * …"}
    %b = graph.map "f32(i32(x0)) * x1"(%w, %s)    →  %t = graph.map "x0 + x1"(%p, -3 · Σ %w)
    %c = graph.contract "mk,kn->mn"(%a, %b)          %c = graph.map "f32(x0) * x1"(%t, 0.5 · %s)

Σ (x - zx)(w - zw) = Σ xw - zx Σ w - zw Σ x + K zx zw; constant folding computes the terms of weights alone. Left bytes
become unsigned and right ones signed, as dot-product instructions need them. Padding with zero is padding with the zero
point. Integer sums are exact, so MatMulInteger and similar operators change no bit. A sum of scaled values is rounded
once instead of once a term, so ``numerics = strict`` does not rewrite it. A sum that may exceed 31 bits is not
rewritten either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import BroadcastOp, ConstantOp, ContractOp, ConvOp, MapOp, ReduceOp, ints_of
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import shape_of
from mlc.dialects.weights import WeightStore
from mlc.passes.context import weights_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.graph.patterns.quantized import PRODUCT, Quantized, literal, quantized
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused

LARGEST = 255 * 128  # product of two bytes


@dataclass(frozen=True)
class IntegerProducts(ModulePass):
    """Replace products of dequantized values by products of the stored bytes. ``numerics``: ``strict`` does not rewrite
    products with scales."""

    name = "integer-products"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for anchor in [o for o in body.ops if isinstance(o, ContractOp | ConvOp)]:
                if anchor.operands[0] not in constants and anchor.operands[1] in constants and not anchor.product:
                    _rewrite(anchor, weights_of(ctx), self.numerics == "strict")
        eliminate_dead(op)


def _rewrite(op: ContractOp | ConvOp, weights: WeightStore, strict: bool) -> None:
    builder, channel = OpBuilder(op), _channel(op)
    if channel is None:
        return
    x, w = quantized(op.operands[0], "ui8", builder), quantized(op.operands[1], "i8", builder)
    if x is None or w is None or not x.uniform or (x.scale is None) != (w.scale is None) or (strict and x.scale):
        return
    product_ = _Product(op, channel, builder)
    if x.scale is not None and product_.terms * LARGEST >= 1 << 31:
        return
    centred = literal(w, weights) == 0
    zero, scale = (None if centred else _offset(w, builder)), w.scale
    zero, scale = (product_.by_channel(v, w.value) for v in (zero, scale))
    if not centred and (zero is None or not product_.sums_inputs) or (w.scale and scale is None):
        return
    total = product_.total(x, w, zero)
    if x.scale is not None and scale is not None:
        both = builder.emit(MapOp("x0 * x1", [_scalar(x.scale, builder), scale]))
        total = builder.emit(MapOp("f32(x0) * x1", [total, both]))
    op.results[0].replace_all_uses_with(total)
    erase_unused([op])


def _channel(op: ContractOp | ConvOp) -> int | None:
    """Return the axis of the weight that is also an axis of the result: the filters of a convolution, the columns of a
    matrix. Return None if the operator has another form."""
    if isinstance(op, ConvOp):
        return 0 if op.layouts is None else None
    lhs, rhs, out = op.terms
    plain = op.layouts is None and len(rhs) == 2 and bool(lhs) and bool(out) and out[-1] in rhs
    if not plain or out != lhs[:-1] + out[-1] or lhs[-1] not in rhs or out[-1] in lhs:
        return None
    return rhs.index(out[-1])


def _offset(x: Quantized, builder: OpBuilder) -> SSAValue:
    """Return the zero point of ``x``, with its offset added."""
    if x.zero is None:
        return builder.emit(ConstantOp(np.array(x.offset, np.int32)))
    return builder.emit(MapOp(f"x0 + {x.offset}", [x.zero])) if x.offset else x.zero


def _scalar(x: SSAValue, builder: OpBuilder) -> SSAValue:
    return builder.reshape(x, ())


@dataclass(frozen=True)
class _Product:
    """An integer product that replaces the float product ``op``. Axis ``channel`` of the weight is the channel of the
    result."""

    op: ContractOp | ConvOp
    channel: int
    builder: OpBuilder

    @property
    def terms(self) -> int:
        """K, the number of terms of each sum."""
        shape = shape_of(self.op.operands[1])
        return math.prod(d for n, d in enumerate(shape) if n != self.channel and isinstance(d, int))

    @property
    def sums_inputs(self) -> bool:
        """Whether Σ x is the same for all channels, as it is without groups."""
        return isinstance(self.op, ContractOp) or self.op.groups.value.data == 1

    def by_channel(self, x: SSAValue | None, weight: SSAValue) -> SSAValue | None:
        """Return ``x``, the scale or zero point of the weight, in a shape that broadcasts to the result; None if it
        varies along a summed axis."""
        if x is None:
            return None
        rank = len(shape_of(weight))
        shape = (*[1] * (rank - len(shape_of(x))), *shape_of(x))
        if any(d != 1 for n, d in enumerate(shape) if n != self.channel):
            return None
        return self.builder.reshape(x, self.shape(shape[self.channel]))

    def shape(self, channels: DimLike) -> tuple[DimLike, ...]:
        spatial = len(ints_of(self.op.strides)) if isinstance(self.op, ConvOp) else 0
        return (channels, *[1] * spatial)

    def total(self, x: Quantized, w: Quantized, w_zero: SSAValue | None) -> SSAValue:
        """Return Σ xw - zx Σ w - zw (Σ x - K zx) in i32, where zw is ``w_zero``; None stands for a zw of 0."""
        emit = self.builder.emit
        sums, zero = self.multiplied(x.value, w.value), self.zero(x)
        if zero is not None:
            sums = emit(MapOp("x0 - x1", [sums, emit(MapOp("x0 * x1", [zero, self.weights(w.value)]))]))
        if w_zero is None:
            return sums
        inputs = self.inputs(x.value)
        if zero is not None:
            inputs = emit(MapOp(f"x0 - x1 * {self.terms}", [inputs, zero]))
        return emit(MapOp("x0 - x1 * x2", [sums, inputs, w_zero]))

    def zero(self, x: Quantized) -> SSAValue | None:
        """Return the zero point of the input; None if it is 0."""
        return None if literal(x) == 0 else _scalar(_offset(x, self.builder), self.builder)

    def multiplied(self, x: SSAValue, w: SSAValue) -> SSAValue:
        op = self.op
        if isinstance(op, ContractOp):
            return self.builder.emit(ContractOp(op.equation.data, x, w, product=PRODUCT))
        window = ints_of(op.strides), ints_of(op.dilations)
        return self.builder.emit(ConvOp(x, w, *window, op.groups.value.data, product=PRODUCT))

    def weights(self, w: SSAValue) -> SSAValue:
        """Return Σ w for each channel."""
        wide = self.builder.emit(MapOp("i32(x0)", [w]))
        axes = [n for n in range(len(shape_of(w))) if n != self.channel]
        sums = self.builder.emit(ReduceOp("add", wide, axes))
        return self.builder.reshape(sums, self.shape(shape_of(w)[self.channel]))

    def inputs(self, x: SSAValue) -> SSAValue:
        """Return Σ x; its channel dimension has extent 1."""
        emit = self.builder.emit
        if isinstance(self.op, ContractOp):
            return emit(ReduceOp("add", emit(MapOp("i32(x0)", [x])), [len(shape_of(x)) - 1], True))
        one = emit(ConstantOp(np.array(1, np.int8)))
        return self.multiplied(x, emit(BroadcastOp(one, (1, *shape_of(self.op.operands[1])[1:]))))
