"""Scatter: writes of rows at computed indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.graph.library import LibraryOp, check_tensor
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import ITEMSIZE, element_of, shape_of, tensor

REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


@irdl_op_definition
class ScatterOp(LibraryOp):
    """A scatter: ``data`` with each row of ``updates`` written at its index, in order, or combined with the row
    there.

    ``%y = graph.scatter "add"(%data, %indices, %updates) : tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32> -> …``

    Without a reduction (`"none"`) elements may have any type, and the last of several updates of a row stays. An update
    with an index out of bounds is skipped.
    """

    name = "graph.scatter"
    reduction = prop_def(StringAttr)
    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    result = result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$reduction `(` $data `,` $indices `,` $updates `)` attr-dict"
        "`:` type($data) `,` type($indices) `,` type($updates) `->` type($result)"
    )

    def __init__(self, reduction: str, data: SSAValue, indices: SSAValue, updates: SSAValue):
        properties = {"reduction": StringAttr(reduction)}
        super().__init__(operands=[data, indices, updates], properties=properties, result_types=[data.type])

    @property
    def function(self) -> str:
        kind = self.reduction.data
        return "scatter" if kind == "none" else f"scatter_{kind}_{element_of(self.data)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        (cells, width), (count,) = shape_of(self.data), shape_of(self.indices)
        scale = ITEMSIZE[element_of(self.data)] if self.reduction.data == "none" else 1
        return cells, count, width * scale

    def infer(self) -> TensorType:
        (cells, width), count = shape_of(self.data), shape_of(self.indices)
        if shape_of(self.updates) != (*count, width) or element_of(self.indices) != "i64":
            raise VerifyException(f"{self.name}: updates {self.updates.type} do not fit indices {self.indices.type}")
        if element_of(self.updates) != element_of(self.data):
            raise VerifyException(f"{self.name}: updates {self.updates.type} of data {self.data.type}")
        if self.reduction.data != "none":
            check_tensor(self.name, self.data, 2)
            if self.reduction.data not in REDUCTIONS:
                raise VerifyException(f"{self.name}: there is no reduction {self.reduction.data!r}")
        return tensor(element_of(self.data), [cells, width])

    def batch_axes(self) -> tuple[BatchAxis, ...]:
        """Columns are independent; sums of updates too, each of which a part of all ranks' data gets."""
        columns: BatchAxis = (1, None, 1), 1
        return (columns, (("add", 0, 0), "add")) if self.reduction.data == "add" else (columns,)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        data, indices, updates = operands
        y = data.copy()
        inside = (indices >= 0) & (indices < len(data))
        if self.reduction.data == "none":
            y[indices[inside]] = updates[inside]  # in order, so that the last of equal indices stays
        else:
            REDUCTIONS[self.reduction.data].at(y, indices[inside], updates[inside])
        return y
