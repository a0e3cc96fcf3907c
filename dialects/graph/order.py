"""What depends on the order of elements: their places in order, and running sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dims import DimLike, parse_dim
from mlc.dialects.evaluate import Array
from mlc.dialects.graph.library import LibraryOp, check_tensor, whole_numbers
from mlc.dialects.types import element_of, shape_of, tensor

FEW = 8  # a count of at most this part of the elements is selected by a heap, a greater one sorted


@irdl_op_definition
class OrderOp(LibraryOp):
    """The places of the first ``count`` elements of each row, the least first, or the greatest if ``descending``.

    ``%p = graph.order(%x) {count = "5", descending = true} : tensor<2x100x1xf32> -> tensor<2x5xi64>``

    An element of a row is a vector (the last dimension), compared from its first number on. Of equal ones the first
    comes first; NaN is greater than all others. Where many are wanted, all are sorted: then a row of the result has
    room for twice as many as there are, and what stands behind the first ``count`` is unspecified.
    """

    name = "graph.order"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    count = prop_def(StringAttr)
    descending = prop_def(BoolAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue, count: DimLike, descending: bool):
        properties = {"count": StringAttr(str(count)), "descending": BoolAttr.from_bool(descending)}
        super().__init__(operands=[input], properties=properties, result_types=[_places(input, count)])

    @property
    def function(self) -> str:
        return f"order_{element_of(self.input)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        count = parse_dim(self.count.data)
        return (*shape_of(self.input), count, shape_of(self.result)[1], int(bool(self.descending)))

    def infer(self) -> TensorType:
        check_tensor(self.name, self.input, 3)
        return _places(self.input, parse_dim(self.count.data))

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        x = operands[0]
        rows, room, count = whole_numbers((*shape_of(self.result), parse_dim(self.count.data)), symbols)
        ranks = np.stack([_ranks(x[..., n], bool(self.descending)) for n in range(x.shape[2])])
        found = np.zeros((rows, room), np.int64)
        found[:, :count] = np.lexsort(ranks[::-1], axis=-1)[:, :count]
        return found


def _places(input: SSAValue, count: DimLike) -> TensorType:
    rows, size, _ = shape_of(input)
    few = isinstance(size, int) and isinstance(count, int) and count * FEW <= size
    return tensor("i64", [rows, count if few else 2 * size])


def _ranks(x: Array, descending: bool) -> Array:
    """Numbers that order as ``x`` does."""
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    return -ranks if descending else ranks


@irdl_op_definition
class ScanOp(LibraryOp):
    """Running sums (or products) along the middle dimension, from its end where ``reverse``.

    ``%y = graph.scan "add"(%x) {exclusive = false, reverse = false} : tensor<4x100x8xf32> -> tensor<4x100x8xf32>``

    ``exclusive``: without the element itself.
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

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        function, first = (np.cumsum, 0) if self.monoid.data == "add" else (np.cumprod, 1)
        x = operands[0][:, ::-1] if self.reverse else operands[0]
        y = function(x, axis=1, dtype=x.dtype)
        if self.exclusive:
            y = np.concatenate([np.full_like(y[:, :1], first), y[:, :-1]], axis=1)
        return np.ascontiguousarray(y[:, ::-1] if self.reverse else y)
