"""Sizes that depend on data: the one operator whose result has as many elements as its values say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dims import Atom, Dim, DimLike, dim_max, dim_min, symbols_of
from mlc.dialects.evaluate import Array
from mlc.dialects.graph.base import GraphOp
from mlc.dialects.types import element_of, elements_in, shape_of, tensor

SIZE = re.compile(r"size\d+")  # how symbols of data-dependent sizes are called, and no others


@irdl_op_definition
class PositionsOp(GraphOp):
    """Where a mask is true, ascending; their number, at most all, is from here on the dimension ``size``.

    ``%p = graph.positions "size0"(%mask) : tensor<8xi1> -> tensor<?xi64, #graph.dims<["size0"]>>``

    It is not pure: operators that only have the size in their shapes need it without reading its result.
    """

    name = "graph.positions"
    size = prop_def(StringAttr)
    mask = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$size `(` $mask `)` attr-dict `:` type($mask) `->` type($result)"

    def __init__(self, size: str, mask: SSAValue):
        result = tensor("i64", [Dim.symbol(size)])
        super().__init__(operands=[mask], properties={"size": StringAttr(size)}, result_types=[result])

    @property
    def bound(self) -> DimLike:
        """What the size never exceeds."""
        return elements_in(self.mask)

    def infer(self) -> TensorType:
        if element_of(self.mask) != "i1" or len(shape_of(self.mask)) != 1:
            raise VerifyException("graph.positions: it takes a vector of predicates")
        if not SIZE.fullmatch(self.size.data):
            raise VerifyException(f"graph.positions: {self.size.data!r} is no name of a size, as size0 is")
        return tensor("i64", [Dim.symbol(self.size.data)])

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """The positions as i64."""
        return np.flatnonzero(operands[0]).astype(np.int64)


def sizes_of(dims: Iterable[DimLike]) -> set[str]:
    """The data-dependent sizes among the symbols of dimensions."""
    return {symbol for symbol in symbols_of(dims) if SIZE.fullmatch(symbol)}


def upper(value: DimLike, bounds: Mapping[str, DimLike]) -> DimLike:
    """What ``value`` never exceeds while each size is between 0 and its bound; without sizes.

    Other symbols stay, so it is as large as it has to be for each of their values.
    """
    if not isinstance(value, Dim) or not sizes_of([value]):
        return value
    total: DimLike = 0
    for monomial, c in value.terms:
        if c < 0 and any(_has_size(atom) for atom in monomial):
            continue  # at least 0 is subtracted
        term: DimLike = c
        for atom in monomial:
            term = term * _upper_atom(atom, bounds)
        total = total + term
    return total


def _has_size(atom: Atom) -> bool:
    return bool(SIZE.fullmatch(atom) if isinstance(atom, str) else sizes_of(atom[1:]))


def _upper_atom(atom: Atom, bounds: Mapping[str, DimLike]) -> DimLike:
    if isinstance(atom, str):
        return bounds.get(atom, Dim.symbol(atom))
    kind, lhs, rhs = atom
    high = upper(lhs, bounds)
    if kind == "//":
        return high // (rhs if not sizes_of([rhs]) else 1)
    combine = dim_max if kind == "max" else dim_min
    return combine(high, upper(rhs, bounds))
