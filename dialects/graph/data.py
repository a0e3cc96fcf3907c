"""Constant tensors: weights by name, and small constants inline."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, StringAttr, TensorType
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE
from mlc.dialects.types import element_of, element_of_dtype, numpy_dtype, shape_of, tensor


@irdl_op_definition
class WeightOp(IRDLOperation):
    """An entry of the weight store, by name; its bytes never enter the IR.

    ``%w = graph.weight "conv1.weight" : tensor<64x3x7x7xf32>``
    """

    name = "graph.weight"
    entry = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    assembly_format = "$entry attr-dict `:` type($result)"

    def __init__(self, entry: str, type: TensorType):
        super().__init__(properties={"entry": StringAttr(entry)}, result_types=[type])


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A small constant tensor (at most a few dozen elements, not of a narrow type) that is visible in the IR.

    ``%c = graph.constant dense<[1, 2]> : tensor<2xi64> : tensor<2xi64>``
    """

    name = "graph.constant"
    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    assembly_format = "$value attr-dict `:` type($result)"

    def __init__(self, value: np.ndarray[Any, Any]):
        type_ = tensor(element_of_dtype(value.dtype), value.shape)
        dense = DenseIntOrFPElementsAttr.from_list(cast("TensorType[IntegerType]", type_), value.reshape(-1).tolist())
        super().__init__(properties={"value": dense}, result_types=[type_])

    def verify_(self) -> None:
        if self.value.get_type() != self.result.type:
            raise VerifyException(f"graph.constant: {self.value.get_type()} is stored as {self.result.type}")

    def array(self) -> np.ndarray[Any, Any]:
        dtype = np.dtype(numpy_dtype(element_of(self.result)))
        # NumPy would convert a mix of integers within and beyond int64 to floats.
        values = np.array(list(self.value.get_values()), dtype if dtype.kind == "u" else None)
        return values.astype(dtype).reshape(shape_of(self.result))
