"""Transposed convolutions with strides, as one convolution for each phase of the stride, without inserted zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, ints, ints_of
from mlc.dialects.graph.in_layouts import LayoutOp, infer_in_layouts, layouts_attr
from mlc.dialects.graph.layouts import Layouts
from mlc.dialects.semantics.dims import floordiv
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import Shape, element_of, tensor


@irdl_op_definition
class ConvTransposeOp(LayoutOp):
    """A transposed convolution (ONNX ConvTranspose 11) of input [N, C, X…] and weight [s…, F, C, T…]. For each phase p,
    the outputs s·i + p are a convolution with the T taps weight[p…], over the input from row i + (p + low) // s on.
    ``low`` is the number of elements cropped at the start of the result. The input is padded, so that all rows exist: X
    = Y + (s - 1 + low) // s + T - 1 for results [N, F, s·Y…].

    ``%y = graph.conv_transpose(%x, %w) {strides = [2, 2], low = [1, 1]} :
    (tensor<1x8x10x10xf32>, tensor<2x2x4x8x2x2xf32>) -> tensor<1x4x16x16xf32>``
    """

    name = "graph.conv_transpose"
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    strides = prop_def(DenseArrayBase)
    low = prop_def(DenseArrayBase)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `,` $weight `)` attr-dict `:` functional-type(operands, $result)"

    def __init__(
        self,
        input: SSAValue,
        weight: SSAValue,
        strides: Sequence[int],
        low: Sequence[int],
        layouts: Layouts | None = None,
    ):
        properties = {"strides": ints(strides), "low": ints(low), "layouts": layouts_attr(layouts)}
        result = _infer(input, weight, strides, low, layouts)
        super().__init__(operands=[input, weight], properties=properties, result_types=[result])

    def infer(self) -> TensorType:
        return _infer(self.input, self.weight, ints_of(self.strides), ints_of(self.low), self.data_layouts)

    def plain_statements(self) -> tuple[Statement, ...]:
        strides, low = ints_of(self.strides), ints_of(self.low)
        axes, out = range(len(strides)), self.plain_shape(-1)
        s, f, c, t = _parts(self.plain_shape(1), len(strides))
        rows = [f"y{n} + (p{n} + {low[n]}) // {strides[n]} + k{n}" for n in axes]
        phases, taps = ([f"{x}{n}" for n in axes] for x in "pk")
        value = f"x0[{', '.join(['n', 'c', *rows])}] * x1[{', '.join([*phases, 'f', 'c', *taps])}]"
        extents = [floordiv(out[2 + n], strides[n]) for n in axes]
        return (
            statement(
                " ".join(["n", *phases, "f", *(f"y{n}" for n in axes)]),
                (out[0], *s, f, *extents, c, *t),
                value,
                out="; ".join(["n", "f", *(f"y{n}*{strides[n]} + p{n}" for n in axes)]),
                reduce=" ".join(["c", *taps]),
                monoid="add",
            ),
        )


def _parts(w: Sequence[Any], rank: int) -> tuple[Any, ...]:
    """Return the phases, filters, channels and taps of a weight's shape."""
    return tuple(w[:rank]), w[rank], w[rank + 1], tuple(w[rank + 2 : 2 * rank + 2])


def _infer(
    input: SSAValue, weight: SSAValue, strides: Sequence[int], low: Sequence[int], layouts: Layouts | None
) -> TensorType:
    name, rank = ConvTransposeOp.name, len(strides)
    if not rank or len(low) != rank or min(*strides, 1) < 1 or min(*low, 0) < 0:
        raise VerifyException(f"{name} takes strides from 1 and cuts from 0, not {list(strides)} and {list(low)}")
    if element_of(input) != element_of(weight):
        raise VerifyException(f"{name}: operands are {element_of(input)} and {element_of(weight)}; insert a cast")

    def infer(shapes: Sequence[Shape]) -> TensorType:
        x, w = shapes
        if len(x) != rank + 2 or len(w) != 2 * rank + 2 or not all(isinstance(d, int) for d in w):
            raise VerifyException(f"{name}: input {x} and weight {w} do not fit {rank} strides")
        phases, filters, channels, taps = _parts(w, rank)
        if phases != tuple(strides) or x[1] != channels:
            raise VerifyException(f"{name}: weight {w} does not fit the strides {list(strides)} and the input {x}")
        rows = [x[2 + n] - (s - 1 + low[n]) // s - taps[n] + 1 for n, s in enumerate(strides)]
        if any(not isinstance(r, int) or r < 0 for r in rows):
            raise VerifyException(
                f"{name}: input {x} has too few rows for the taps {taps}, or a symbolic number of them"
            )
        return tensor(element_of(input), (x[0], filters, *(s * r for s, r in zip(strides, rows, strict=True))))

    return infer_in_layouts([input, weight], layouts, infer)
