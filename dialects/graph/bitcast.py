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

NARROW = {"i8": 1, "ui8": 1, "i16": 2, "bf16": 2}
"""Elements of which an i32 holds several, with their bytes."""


@irdl_op_definition
class BitcastOp(StructuredOp):
    """A cast of each four bytes along the last dimension, bytes or two i16 or bf16, to one i32, the first one in its
    lowest bits; never moves data.

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
        size = NARROW[element_of(self.input)]
        count, bits = ITEMSIZE["i32"] // size, 8 * size
        at = [", ".join([*outer, f"{last}*{count} + {n}"]) for n in range(count)]
        reads = [f"(i32(as_ui{bits}(x0[{place}])) << {bits * n})" for n, place in enumerate(at)]
        return (statement(" ".join([*outer, last]), shape, " | ".join(reads)),)


def _infer_bitcast(input: SSAValue, element: str) -> TensorType:
    source, shape = element_of(input), shape_of(input)
    if source not in NARROW or element != "i32":
        raise VerifyException(f"graph.bitcast: {source} as {element}; it supports only bytes, i16 and bf16 as i32")
    count = ITEMSIZE[element] // NARROW[source]
    if not shape or not isinstance(shape[-1], int) or shape[-1] % count:
        raise VerifyException(f"graph.bitcast: the last dimension of {shape} is not a multiple of {count}")
    return tensor(element, (*shape[:-1], shape[-1] // count))
