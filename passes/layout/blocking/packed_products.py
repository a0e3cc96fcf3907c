"""Packed products: the sum of the products of several neighbouring factors, which one instruction computes of words
that hold them (``vpdpbusd`` of four bytes, ``vpmaddwd`` of two i16, ``vdpbf16ps`` of two bf16)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from mlc.dialects.graph import ContractOp, ConvOp
from mlc.dialects.types import element_of
from mlc.passes.graph.patterns.quantized import DOT4, PRODUCT, WORD

PAIR = 2  # bf16 in a word
OF_HALVES = StringAttr("f32(x0) * f32(x1)")  # of halves, exact in f32
OF_NARROW_WEIGHTS = StringAttr("x0 * f32(x1)")  # of f32 and weights of 16 bits, which are widened as they are read
DOT2 = StringAttr("dot2(x0, x1)")  # the sum of two such products
DOT2_I16 = StringAttr("dot2_i16(x0, x1)")  # that of two products of i16


@dataclass(frozen=True)
class Packing:
    """``count`` factors in a word, and the ``product`` of two words."""

    count: int
    product: StringAttr


def packing(op: ContractOp | ConvOp) -> Packing | None:
    """Return how the factors of a product are packed; None if they are not."""
    if op.product == PRODUCT:
        return Packing(WORD, DOT4)
    if op.product == OF_HALVES and all(element_of(v) == "bf16" for v in op.operands):
        return Packing(PAIR, DOT2)
    return None
