"""Constants as C literals."""

from __future__ import annotations

import struct

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr

from mlc.passes.codegen.c_like.c_types import CodegenError, c_scalar


def literal(op: arith.ConstantOp, name: str) -> str | None:
    """Return the literal of a constant of an element type; None for a vector."""
    if isinstance(op.value, FloatAttr):
        return float_literal(op.value.value.data, name)
    if not isinstance(op.value, IntegerAttr):
        return None
    value = op.value.value.data
    text = str(abs(value)) if name == "i1" else "INT64_MIN" if value == -(1 << 63) else str(value)
    return f"({text})" if text.startswith("-") else text


def float_literal(value: float, name: str) -> str:
    """Return an exact C literal; for bfloat16 its bits."""
    if name == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return "0x7fc0" if value != value else str((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    if name not in ("f16", "f32", "f64"):
        raise CodegenError(f"no C literal of type {name}")
    if value != value:
        text = '__builtin_nanf("")'
    elif value in (float("inf"), float("-inf")):
        text = "__builtin_inff()" if value > 0 else "(-__builtin_inff())"
    else:
        text = f"{value!r}{'f' if name != 'f64' else ''}"
        text = f"({text})" if text.startswith("-") else text
    return f"(({c_scalar(name)}){text})" if name == "f16" else text
