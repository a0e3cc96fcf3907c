"""Argsort: the indices that sort the rows of a tensor, or the first few of them (top-k)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def

from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.graph.library import LibraryOp, check_tensor, whole_numbers
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of, tensor

SELECT_AT_MOST_ONE_IN = 8  # a heap selects up to 1/8 of the elements; for more, all are sorted


@irdl_op_definition
class ArgsortOp(LibraryOp):
    """Argsort and top-k: the indices of the first ``count`` elements of each row, ascending or ``descending``.

    ``%p = graph.argsort(%x) {count = "5", descending = true} : tensor<2x100x1xf32> -> tensor<2x5xi64>``

    An element of a row is a vector (the last dimension), compared lexicographically. The order is stable; NaN is
    greater than all other values. For a large ``count`` the whole row is sorted: then a row of the result has room for
    twice as many elements as the row of the operand, and elements after the first ``count`` are unspecified.
    """

    name = "graph.argsort"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    count = prop_def(StringAttr)
    descending = prop_def(BoolAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue, count: DimLike, descending: bool):
        properties = {"count": StringAttr(str(count)), "descending": BoolAttr.from_bool(descending)}
        super().__init__(operands=[input], properties=properties, result_types=[_infer_argsort(input, count)])

    @property
    def function(self) -> str:
        return f"argsort_{element_of(self.input)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        count = parse_dim(self.count.data)
        return (*shape_of(self.input), count, shape_of(self.result)[1], int(bool(self.descending)))

    def infer(self) -> TensorType:
        check_tensor(self.name, self.input, 3)
        return _infer_argsort(self.input, parse_dim(self.count.data))

    def batch_axes(self) -> tuple[BatchAxis, ...]:
        return (((0,), 0),)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        x = operands[0]
        rows, room, count = whole_numbers((*shape_of(self.result), parse_dim(self.count.data)), symbols)
        ranks = np.stack([_ranks(x[..., n], bool(self.descending)) for n in range(x.shape[2])])
        found = np.zeros((rows, room), np.int64)
        found[:, :count] = np.lexsort(ranks[::-1], axis=-1)[:, :count]
        return found


def _infer_argsort(input: SSAValue, count: DimLike) -> TensorType:
    rows, size, _ = shape_of(input)
    few = isinstance(size, int) and isinstance(count, int) and count * SELECT_AT_MOST_ONE_IN <= size
    return tensor("i64", [rows, count if few else 2 * size])


def _ranks(x: Array, descending: bool) -> Array:
    """Return integers with the same order as ``x``, or with the opposite order."""
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    return -ranks if descending else ranks
