"""Bitcast: the same bytes as elements of another size."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, StructuredOp, iterators
from mlc.dialects.graph.traits import ViewLike
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import ITEMSIZE, element_of, shape_of, tensor

BYTES = ("i8", "ui8")


@irdl_op_definition
class BitcastOp(StructuredOp):
    """A cast of each four bytes along the last dimension to one i32, the first byte in its lowest bits; never moves
    data.

    ``%q = graph.bitcast(%x) {element = "i32"} : (tensor<8x64xui8>) -> tensor<8x16xi32>``
    """

    name = "graph.bitcast"
    input = operand_def(TensorType)
    element = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(PURE, ViewLike())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, element: str = "i32"):
        super().__init__(
            operands=[input],
            properties={"element": StringAttr(element)},
            result_types=[_infer_bitcast(input, element)],
        )

    def infer(self) -> TensorType:
        return _infer_bitcast(self.input, self.element.data)

    def statements(self) -> tuple[Statement, ...]:
        shape = shape_of(self.result)
        *outer, last = iterators(len(shape))
        reads = [f"(i32(as_ui8(x0[{', '.join([*outer, f'{last}*4 + {n}'])}])) << {8 * n})" for n in range(4)]
        return (statement(" ".join([*outer, last]), shape, " | ".join(reads)),)


def _infer_bitcast(input: SSAValue, element: str) -> TensorType:
    source, shape = element_of(input), shape_of(input)
    if source not in BYTES or element != "i32":
        raise VerifyException(f"graph.bitcast: {source} as {element}; it supports only bytes as i32")
    size = ITEMSIZE[element]
    if not shape or not isinstance(shape[-1], int) or shape[-1] % size:
        raise VerifyException(f"graph.bitcast: the last dimension of {shape} is not a multiple of {size}")
    return tensor(element, (*shape[:-1], shape[-1] // size))
