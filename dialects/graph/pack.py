"""Packing: a tensor in another data layout, and back (``linalg.pack`` and ``linalg.unpack`` of MLIR)."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def

from mlc.dialects.graph.base import PURE, StructuredOp, iterators
from mlc.dialects.graph.layouts import LayoutAttr
from mlc.dialects.semantics.dims import product
from mlc.dialects.semantics.expr import Index, Load
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import element_of, shape_of, tensor


class _RepackOp(StructuredOp):
    """The common base of graph.pack and graph.unpack."""

    input = operand_def(TensorType)
    result = result_def(TensorType)
    layout = prop_def(LayoutAttr)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"


@irdl_op_definition
class PackOp(_RepackOp):
    """A tensor in a layout (``linalg.pack``): zeros fill the last tile of a dimension.

    ``%p = graph.pack(%w) {layout = #graph.layout<"Ba32b">} : (tensor<64x90xf32>) -> tensor<3x64x32xf32>``
    """

    name = "graph.pack"

    def __init__(self, input: SSAValue, layout: LayoutAttr):
        super().__init__(operands=[input], properties={"layout": layout}, result_types=[_packed(input, layout)])

    def infer(self) -> TensorType:
        return _packed(self.input, self.layout)

    def statements(self) -> tuple[Statement, ...]:
        names = iterators(len(self.layout.order))
        read = f"x0[{', '.join(names) or '()'}]"
        copy = statement(" ".join(names), shape_of(self.input), read)
        copy = replace(copy, out=self.layout.index([Index(n) for n in names]))
        zeros = shape_of(self.result)
        fill = statement(" ".join(iterators(len(zeros))), zeros, f"{element_of(self.result)}(0)")
        return (copy,) if product(zeros) == product(shape_of(self.input)) else (fill, copy)


def _packed(input: SSAValue, layout: LayoutAttr) -> TensorType:
    return tensor(element_of(input), layout.packed(shape_of(input)))


@irdl_op_definition
class UnpackOp(_RepackOp):
    """The tensor of a packed buffer (``linalg.unpack``), without the padding of the layout.

    ``%w = graph.unpack(%p) {layout = #graph.layout<"Ba32b", padding = [6]>} :
    (tensor<3x64x32xf32>) -> tensor<64x90xf32>``
    """

    name = "graph.unpack"

    def __init__(self, input: SSAValue, layout: LayoutAttr):
        super().__init__(operands=[input], properties={"layout": layout}, result_types=[_unpacked(input, layout)])

    def infer(self) -> TensorType:
        return _unpacked(self.input, self.layout)

    def statements(self) -> tuple[Statement, ...]:
        names = iterators(len(self.layout.order))
        copy = statement(" ".join(names), shape_of(self.result), "x0")
        return (replace(copy, value=Load(0, self.layout.index([Index(n) for n in names]))),)


def _unpacked(input: SSAValue, layout: LayoutAttr) -> TensorType:
    return tensor(element_of(input), layout.unpacked(shape_of(input)))
