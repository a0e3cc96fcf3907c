"""Operators of the ``dist`` dialect: a constraint of the user, and a change of state. Both leave the values alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dist.mesh import ShardingAttr
from mlc.dialects.dist.states import State
from mlc.dialects.graph.base import PURE, GraphOp
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import shape_of


class _SameValueOp(GraphOp):
    """An operator whose result is its operand, however the ranks hold it."""

    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def infer(self) -> TensorType:
        assert isinstance(self.input.type, TensorType)
        return self.input.type

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        return operands[0]


@irdl_op_definition
class ShardOp(_SameValueOp):
    """The operand, which is divided as ``sharding`` says (JAX: ``with_sharding_constraint``).

    ``%y = dist.shard(%x) {sharding = #dist.sharding<[["data"], []]>} : (tensor<4x8xf32>) -> tensor<4x8xf32>``
    """

    name = "dist.shard"
    sharding = prop_def(ShardingAttr)

    def __init__(self, input: SSAValue, sharding: ShardingAttr):
        super().__init__(operands=[input], properties={"sharding": sharding}, result_types=[input.type])

    def infer(self) -> TensorType:
        if len(self.sharding.axes) > len(shape_of(self.input)):
            raise VerifyException(f"{self.name}: {len(self.sharding.axes)} dimensions of a {self.input.type}")
        return super().infer()


@irdl_op_definition
class ReshardOp(_SameValueOp):
    """The operand in another state along one mesh axis; ``bytes`` is what a rank sends for it.

    ``%y = dist.reshard(%x) {axis = "model", source = #dist.split<1>, target = #dist.whole, bytes = 64 : i64, why = "…"}``
    """

    name = "dist.reshard"
    axis = prop_def(StringAttr)
    source = prop_def(Attribute)
    target = prop_def(Attribute)
    bytes = prop_def(IntegerAttr)
    why = prop_def(StringAttr)

    def __init__(self, input: SSAValue, axis: str, source: State, target: State, bytes: int, why: str):
        properties: dict[str, Attribute] = {
            "axis": StringAttr(axis),
            "source": source,
            "target": target,
            "bytes": IntegerAttr(bytes, i64),
            "why": StringAttr(why),
        }
        super().__init__(operands=[input], properties=properties, result_types=[input.type])
