"""Transposed convolutions with strides: each output from the inputs and taps that meet in it, with no zeros between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, StructuredOp, ints, ints_of
from mlc.dialects.statement import Statement, statement
from mlc.dialects.types import element_of, shape_of, tensor

LAYOUTS = ("NCX", "NCXc")


@irdl_op_definition
class ConvTransposeOp(StructuredOp):
    """ONNX ConvTranspose (11) of input [N, C, X…] and weight [s…, F, C, T…]: output s·i + p is, for each phase p, a
    convolution of T taps by weight[p…], over the input from row i + (p + low) // s on. ``low`` is what is cut from the
    beginning of the whole result; the input is padded so that every row is there: X = Y + (s - 1 + low) // s + T - 1
    for results [N, F, s·Y…].

    layout ``NCXc``: channels blocked; input [N, C/b, X…, b], weight [s…, F/b', C/b, T…, b, b'], result [N, F/b', s·Y…,
    b'].

    ``%y = graph.conv_transpose(%x, %w) {strides = [2, 2], low = [1, 1], layout = "NCX"} :
    (tensor<1x8x10x10xf32>, tensor<2x2x4x8x2x2xf32>) -> tensor<1x4x16x16xf32>``
    """

    name = "graph.conv_transpose"
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    strides = prop_def(DenseArrayBase)
    low = prop_def(DenseArrayBase)
    layout = prop_def(StringAttr)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `,` $weight `)` attr-dict `:` functional-type(operands, $result)"

    def __init__(
        self, input: SSAValue, weight: SSAValue, strides: Sequence[int], low: Sequence[int], layout: str = "NCX"
    ):
        properties = {"strides": ints(strides), "low": ints(low), "layout": StringAttr(layout)}
        result = _infer(layout, input, weight, strides, low)
        super().__init__(operands=[input, weight], properties=properties, result_types=[result])

    def infer(self) -> TensorType:
        return _infer(self.layout.data, self.input, self.weight, ints_of(self.strides), ints_of(self.low))

    def statements(self) -> tuple[Statement, ...]:
        strides, low, blocked = ints_of(self.strides), ints_of(self.low), self.layout.data == "NCXc"
        axes, w, out = range(len(strides)), shape_of(self.weight), shape_of(self.result)
        (s, f, c, t), tail = _parts(w, len(strides)), w[-2:] if blocked else ()
        rows = [f"y{n} + (p{n} + {low[n]}) // {strides[n]} + k{n}" for n in axes]
        phases, taps = ([f"{x}{n}" for n in axes] for x in "pk")
        ci, both, fi = (["ci"], ["ci", "fi"], ["fi"]) if blocked else ([], [], [])
        value = f"x0[{', '.join(['n', 'c', *rows, *ci])}] * x1[{', '.join([*phases, 'f', 'c', *taps, *both])}]"
        extents = [out[2 + n] // strides[n] for n in axes]
        return (
            statement(
                " ".join(["n", *phases, "f", *(f"y{n}" for n in axes), *fi]),
                (out[0], *s, f, *extents, *tail[1:], c, *t, *tail[:1]),
                value,
                out="; ".join(["n", "f", *(f"y{n}*{strides[n]} + p{n}" for n in axes), *fi]),
                reduce=" ".join(["c", *taps, *ci]),
                monoid="add",
            ),
        )


def _parts(w: Sequence[Any], rank: int) -> tuple[Any, ...]:
    """Phases, filters, channels and taps of a weight's shape."""
    return tuple(w[:rank]), w[rank], w[rank + 1], tuple(w[rank + 2 : 2 * rank + 2])


def _infer(layout: str, input: SSAValue, weight: SSAValue, strides: Sequence[int], low: Sequence[int]) -> TensorType:
    name, x, w, rank, blocked = ConvTransposeOp.name, shape_of(input), shape_of(weight), len(strides), layout == "NCXc"
    if layout not in LAYOUTS or not rank or len(low) != rank or min(*strides, 1) < 1 or min(*low, 0) < 0:
        given = f"{layout!r}, {list(strides)} and {list(low)}"
        raise VerifyException(f"{name} takes a layout of {LAYOUTS}, strides from 1 and cuts from 0, not {given}")
    if len(x) != rank + 2 + blocked or len(w) != 2 * rank + 2 + 2 * blocked or not all(isinstance(d, int) for d in w):
        raise VerifyException(f"{name}: input {x} and weight {w} do not fit {rank} strides in the layout {layout}")
    phases, filters, channels, taps = _parts(w, rank)
    if phases != tuple(strides) or x[1] != channels or (blocked and x[-1] != w[-2]):
        raise VerifyException(f"{name}: weight {w} does not fit the strides {list(strides)} and the input {x}")
    if element_of(input) != element_of(weight):
        raise VerifyException(f"{name}: operands are {element_of(input)} and {element_of(weight)}; insert a cast")
    rows = [x[2 + n] - (s - 1 + low[n]) // s - taps[n] + 1 for n, s in enumerate(strides)]
    if any(not isinstance(r, int) or r < 0 for r in rows):
        raise VerifyException(f"{name}: input {x} has too few rows for the taps {taps}, or a symbolic number of them")
    extents = [s * r for s, r in zip(strides, rows, strict=True)]
    return tensor(element_of(input), (x[0], filters, *extents, *((w[-1],) if blocked else ())))
