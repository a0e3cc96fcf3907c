"""Scan: running sums and products (prefix sums) along a dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.graph.library import LibraryOp, check_tensor
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of, tensor


@irdl_op_definition
class ScanOp(LibraryOp):
    """Running sums (or products) along the middle dimension, from its start or, with ``reverse``, from its end.

    ``%y = graph.scan "add"(%x) {exclusive = false, reverse = false} : tensor<4x100x8xf32> -> tensor<4x100x8xf32>``

    With ``exclusive``, the sum at an element does not include it.
    """

    name = "graph.scan"
    monoid = prop_def(StringAttr)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    exclusive = prop_def(BoolAttr)
    reverse = prop_def(BoolAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$monoid `(` $input `)` attr-dict `:` type($input) `->` type($result)"

    def __init__(self, monoid: str, input: SSAValue, exclusive: bool, reverse: bool):
        flags = {"exclusive": BoolAttr.from_bool(exclusive), "reverse": BoolAttr.from_bool(reverse)}
        properties = {"monoid": StringAttr(monoid), **flags}
        super().__init__(operands=[input], properties=properties, result_types=[input.type])

    @property
    def function(self) -> str:
        return f"scan_{self.monoid.data}_{element_of(self.input)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        return (*shape_of(self.input), int(bool(self.exclusive)), int(bool(self.reverse)))

    def infer(self) -> TensorType:
        check_tensor(self.name, self.input, 3)
        if self.monoid.data not in ("add", "mul"):
            raise VerifyException(f"graph.scan: there are running sums and products, not {self.monoid.data!r}")
        return tensor(element_of(self.input), shape_of(self.input))

    def batch_axes(self) -> tuple[BatchAxis, ...]:
        return ((0,), 0), ((2,), 2)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        function, first = (np.cumsum, 0) if self.monoid.data == "add" else (np.cumprod, 1)
        x = operands[0][:, ::-1] if self.reverse else operands[0]
        wide = np.float64 if x.dtype == np.float32 else x.dtype  # as compiled code: each result is rounded once
        y = function(x, axis=1, dtype=wide)
        y = (y + 0 if first == 0 else y).astype(x.dtype)  # it begins with 0.0, to which -0.0 adds nothing
        if self.exclusive:
            y = np.concatenate([np.full_like(y[:, :1], first), y[:, :-1]], axis=1)
        return np.ascontiguousarray(y[:, ::-1] if self.reverse else y)
