"""Quantized values: ``scale · (bytes - zero)``, matched in the maps that the import of DequantizeLinear makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from mlc.dialects.graph import ComputeOp, ConstantOp, MapOp, PadOp, ReshapeOp, TransposeOp, WeightOp, dims_of, ints_of
from mlc.dialects.semantics.expr import Call, Const, Expr, Load, substitute
from mlc.dialects.types import element_of, elements_in, numpy_dtype, shape_of
from mlc.dialects.weights import WeightStore
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import producer

BYTES = {"ui8", "i8"}
PRODUCT = StringAttr("i32(x0) * i32(x1)")  # of bytes, whose sum is exact in 32 bits
DOT4 = StringAttr("dot4(x0, x1)")  # the sum of four such products
WORD = 4  # bytes
DEPTH = 4  # maps of a dequantization: a cast, a subtraction, a cast and a product
FLIP = 128  # between unsigned and signed bytes


@dataclass(frozen=True)
class Quantized:
    """``scale · (value - zero)``, or without ``scale`` the integers ``value - zero``.

    ``zero`` is i32 and ``scale`` is f32; both broadcast to ``value``. ``offset`` is added to ``zero``.
    """

    value: SSAValue
    zero: SSAValue | None
    scale: SSAValue | None
    offset: int = 0

    @property
    def uniform(self) -> bool:
        return all(v is None or elements_in(v) == 1 for v in (self.zero, self.scale))


def quantized(value: SSAValue, wanted: str, builder: OpBuilder) -> Quantized | None:
    """Return ``value`` in terms of bytes of element type ``wanted``, also through data movement. Return None if it is
    not dequantized, or has several scales that would have to be moved too."""
    move = value.owner
    if isinstance(move, ReshapeOp | TransposeOp | PadOp):
        inner = quantized(move.input, wanted, builder)
        return _moved(inner, move, builder) if inner and inner.uniform else None
    found = dequantized(value, builder)
    return None if found is None else _as(found, wanted, builder)


def dequantized(value: SSAValue, builder: OpBuilder) -> Quantized | None:
    """Return the bytes, zero point and scale from which maps compute ``value``; None if no maps of that form compute
    it."""
    return _match(*_written(value, DEPTH), builder)


def _moved(x: Quantized, move: ReshapeOp | TransposeOp | PadOp, builder: OpBuilder) -> Quantized | None:
    if isinstance(move, ReshapeOp):
        return replace(x, value=builder.reshape(x.value, dims_of(move.shape)))
    if isinstance(move, TransposeOp):
        return replace(x, value=builder.transpose(x.value, list(ints_of(move.perm))))
    zero = literal(x)
    if move.number != 0 or zero is None and any(ints_of(move.interior)):
        return None
    pad = PadOp(x.value, dims_of(move.low), dims_of(move.high), str(zero or 0), ints_of(move.interior))
    padded = builder.emit(pad)
    return replace(x, value=padded if zero is not None else _bordered(x, padded, move, builder))


def _bordered(x: Quantized, padded: SSAValue, pad: PadOp, builder: OpBuilder) -> SSAValue:
    """Return ``padded`` with the zero point of ``x`` in its border, for a zero point that is known only at run time
    (DynamicQuantizeLinear)."""
    assert x.zero is not None
    element, shape = element_of(padded), shape_of(padded)
    zero = builder.reshape(builder.emit(MapOp(f"{element}(x0 + {x.offset})", [x.zero])), ())
    at, inside = [f"i{n}" for n in range(len(shape))], []
    for i, low, extent, whole in zip(at, dims_of(pad.low), shape_of(x.value), shape, strict=True):
        inside += [] if low == 0 else [f"({i} >= {low})"]
        inside += [] if low + extent == whole else [f"({i} < {low + extent})"]
    if not inside:
        return padded
    text = f"where({' & '.join(inside)}, x0[{', '.join(at)}], x1[()])"
    return builder.emit(ComputeOp(text, [padded, zero], shape))


def literal(x: Quantized, weights: WeightStore | None = None) -> int | None:
    """Return the zero point of ``x`` if it is one integer known at compile time; None otherwise."""
    if x.zero is None:
        return x.offset
    array = known(x.zero, weights)
    return None if array is None or (array != array.flat[0]).any() else int(array.flat[0]) + x.offset


def known(value: SSAValue, weights: WeightStore | None) -> Any:
    """Return the array of a constant, also through casts and reshapes; None for all other values."""
    match value.owner:
        case ConstantOp():
            return value.owner.array()
        case WeightOp() if weights is not None and weights.knows(value.owner.entry.data):
            return weights[value.owner.entry.data]
        case MapOp() if value.owner.scalar == Call("i32", (Load(0),)):
            inner = known(value.owner.args[0], weights)
            return None if inner is None else inner.astype(np.int32)
        case ReshapeOp():
            inner = known(value.owner.input, weights)
            return None if inner is None else inner.reshape(shape_of(value))
    return None


def _written(value: SSAValue, depth: int) -> tuple[Expr, list[SSAValue]]:
    """Return the expression of ``value`` after substituting up to ``depth`` producing maps, and the operands of that
    expression."""
    op = producer(value, MapOp)
    if op is None or element_of(value) in BYTES or not depth:
        return Load(0), [value]
    parts, args = [], list[SSAValue]()
    for arg in op.args:
        part, read = _written(arg, depth - 1)
        parts.append(substitute(part, _renumbered(len(args))))
        args += read
    return substitute(op.scalar, lambda load: parts[load.operand]), args


def _renumbered(by: int) -> Callable[[Load], Expr]:
    return lambda load: Load(load.operand + by)


def _match(expr: Expr, args: list[SSAValue], builder: OpBuilder) -> Quantized | None:
    scale: Expr | None = None
    match expr:
        case Call("mul", (Call("f32", (whole,)), scale)):
            pass
        case whole:
            pass
    zero: Expr | None = None
    match whole:
        case Call("sub", (inner, zero)):
            pass
        case inner:
            pass
    match inner:
        case Call("i32", (Load(n),)) if element_of(args[n]) in BYTES:
            shape = shape_of(args[n])
        case _:
            return None
    found = Quantized(
        args[n],
        None if zero is None else _value(zero, args, "i32", builder),
        None if scale is None else _value(scale, args, "f32", builder),
    )
    parameters = (p for p in (found.zero, found.scale) if p is not None)
    return None if any(len(shape_of(p)) > len(shape) for p in parameters) else found


def _value(expr: Expr, args: list[SSAValue], element: str, builder: OpBuilder) -> SSAValue:
    """Return a scale or zero point as a value: an operand, a constant of a literal, or a new map."""
    bare = expr.args[0] if isinstance(expr, Call) and expr.fn == element else expr
    if isinstance(bare, Const):
        return builder.emit(ConstantOp(np.array(bare.value, numpy_dtype(element))))
    if isinstance(expr, Load):
        return args[expr.operand]
    return builder.emit(MapOp.reading(expr, args))


def _as(x: Quantized, wanted: str, builder: OpBuilder) -> Quantized:
    """Return ``x`` with bytes of element type ``wanted``, unsigned or signed, that stand for the same numbers."""
    if element_of(x.value) == wanted:
        return x
    step = FLIP if wanted == "ui8" else -FLIP
    return replace(x, value=builder.emit(MapOp(f"{wanted}(i32(x0) + {step})", [x.value])), offset=step)
