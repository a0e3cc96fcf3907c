"""The number of this rank, the number of ranks, and the barrier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def

from mlc.dialects.comm.base import CommOp, same_type
from mlc.dialects.graph.base import PURE
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import tensor


@irdl_op_definition
class RankOp(CommOp):
    """The number of this rank, from 0: ``%n = comm.rank : tensor<i64>``."""

    name = "comm.rank"
    result = result_def(TensorType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self) -> None:
        super().__init__(result_types=[tensor("i64", ())])

    def infer(self) -> TensorType:
        return tensor("i64", ())

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        return [np.asarray(n, np.int64) for n in range(len(values))]


@irdl_op_definition
class WorldOp(CommOp):
    """The number of ranks: ``%n = comm.world : tensor<i64>``."""

    name = "comm.world"
    result = result_def(TensorType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self) -> None:
        super().__init__(result_types=[tensor("i64", ())])

    def infer(self) -> TensorType:
        return tensor("i64", ())

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        return [np.asarray(len(values), np.int64)] * len(values)


@irdl_op_definition
class BarrierOp(CommOp):
    """A barrier: the operand, once all ranks have reached it: ``%y = comm.barrier(%x) : (tensor<4xf32>) ->
    tensor<4xf32>``."""

    name = "comm.barrier"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue):
        super().__init__(operands=[input], result_types=[input.type])

    def infer(self) -> TensorType:
        return same_type(self.name, self.input)

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        return list(values)
