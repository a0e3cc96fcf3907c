"""Simplification of the QDQ form (``simplify-quantization``): values between quantized layers stay bytes.

    %d = graph.map "f32(i32(x0) - 3) * 0.5"(%x)         %p = graph.pool "max"(%x)
    %m = graph.pool "max"(%d)                        →  %d = graph.map "f32(i32(x0) - 3) * 0.5"(%p)
    %q = (%m quantized with 0.5 and 3)                  (what reads %q reads %p)

A maximum commutes with dequantization, because the scale is positive. Quantizing a dequantized value with the same
scale and zero point gives the same bytes. Every other quantization multiplies by the reciprocal of a constant scale:
round(x / 0.1) becomes round(x * 10). The result differs by one where x / 0.1 is within rounding of a tie. So inputs of
the model are divided, as ONNX requires, and ``numerics = strict`` divides everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import MapOp, PadOp, PoolOp, dims_of, ints_of
from mlc.dialects.semantics.expr import Call, Const, Expr, Load
from mlc.dialects.types import element_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.graph.patterns.quantized import BYTES, Quantized, dequantized, known, literal, quantized
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, producer


@dataclass(frozen=True)
class SimplifyQuantization(ModulePass):
    """Move dequantizations after maxima, and erase pairs of a dequantization and the quantization that undoes it.
    ``numerics``: ``strict`` keeps divisions by scales."""

    name = "simplify-quantization"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for each in list(body.ops):
                if isinstance(each, PoolOp) and each.fn.data == "max":
                    _pool(each)
                elif isinstance(each, MapOp):
                    _requantize(each)
        eliminate_dead(op)
        for body in bodies(op):
            for each in [o for o in body.ops if isinstance(o, MapOp) and self.numerics != "strict"]:
                _multiply(each)
        eliminate_dead(op)


def _pool(op: PoolOp) -> None:
    """max(dequantized(x)) → dequantized(max(x))"""
    pad, builder = producer(op.input, PadOp), OpBuilder(op)
    if pad is not None and pad.number != -np.inf:
        return
    x = dequantized(pad.input if pad else op.input, builder)
    zero, scale = (None, None) if x is None else (literal(x), _scale(x))
    if x is None or zero is None or scale is None or not scale > 0:
        return
    held = x.value
    if pad is not None:
        lowest = np.iinfo(np.uint8 if element_of(held) == "ui8" else np.int8).min
        held = builder.emit(PadOp(held, dims_of(pad.low), dims_of(pad.high), str(lowest), ints_of(pad.interior)))
    pooled = builder.emit(PoolOp("max", held, ints_of(op.kernel), ints_of(op.strides), ints_of(op.dilations)))
    op.result.replace_all_uses_with(builder.emit(MapOp(f"f32(i32(x0) - {zero}) * {scale!r}", [pooled])))


def _scale(x: Quantized) -> float | None:
    """Return the scale of ``x`` if it is one constant number; None otherwise."""
    array = None if x.scale is None else known(x.scale, None)
    return float(array) if array is not None and array.size == 1 else None


class _Step(NamedTuple):
    """A quantization of ``value``: round(value / scale) + zero."""

    value: SSAValue
    scale: float
    zero: int


def _requantize(op: MapOp) -> None:
    """quantized(dequantized(x)) → x"""
    step = _quantization(op)
    x = quantized(step.value, element_of(op.result), OpBuilder(op)) if step else None
    if step and x and literal(x) == step.zero and _scale(x) == step.scale > 0:
        op.result.replace_all_uses_with(x.value)


def _quantization(op: MapOp) -> _Step | None:
    """Return the quantization that the maps ending in ``op`` compute, in the form of QuantizeLinear: division by a
    scale, rounding, addition of a zero point, clamping to bytes. Return None for other expressions."""
    match op.scalar:
        case Call(fn, (Call("min", (Call("max", (Load(), Const())), Const())),)) if fn in BYTES:
            inner = producer(op.args[0], MapOp)
        case _:
            return None
    zero = 0
    match inner.scalar if inner else None:
        case Call("add", (Load(), Call("f32", (Const(value),)))):
            zero, inner = int(value), producer(inner.args[0], MapOp)  # type: ignore[union-attr]
    match inner.scalar if inner else None:
        case Call("round", (Call("div", (Load(), Const(scale))),)) if inner and isinstance(scale, float):
            return _Step(inner.args[0], scale, zero)
    return None


def _multiply(op: MapOp) -> None:
    """round(x / c) → round(x * (1 / c)), if 1 / c is finite in f32: a scale c may be 0 or too small."""
    match op.scalar:
        case Call("round", (Call("div", (Load(), Const(float(scale)))),)) if isinstance(op.args[0].owner, Operation):
            with np.errstate(all="ignore"):
                factor = float(np.float32(np.float64(1) / scale))
            if not math.isfinite(factor):
                return
            ratio: Expr = Call("mul", (Load(0), Const(factor)))
            op.result.replace_all_uses_with(OpBuilder(op).emit(MapOp(Call("round", (ratio,)), op.args)))
