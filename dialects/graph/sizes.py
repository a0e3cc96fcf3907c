"""Sizes that depend on data: what makes a dimension of how many elements of a mask are true, or of a number."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dims import Atom, Dim, DimLike, dim_max, dim_min, evaluate, parse_dim, symbols_of
from mlc.dialects.evaluate import Array
from mlc.dialects.graph.base import GraphOp
from mlc.dialects.types import element_of, elements_in, shape_of, tensor
from mlc.runtime.errors import RunError

SIZE = re.compile(r"size\d+")  # how symbols of data-dependent sizes are called, and no others
ROOM = re.compile(r"room\d+")  # what a size may be at most where only the caller can say, a dimension of the program


class SizedOp(GraphOp):
    """What makes the dimension ``size`` known. It is not pure: operators need the size without reading a result."""

    size = prop_def(StringAttr)

    @property
    @abstractmethod
    def bound(self) -> DimLike:
        """What the size never exceeds."""

    def check_name(self) -> None:
        """VerifyException where the size is not called as sizes are."""
        if not SIZE.fullmatch(self.size.data):
            raise VerifyException(f"{self.name}: {self.size.data!r} is no name of a size, as size0 is")


@irdl_op_definition
class PositionsOp(SizedOp):
    """Where a mask is true, ascending; their number, at most all, is from here on the dimension ``size``.

    ``%p = graph.positions "size0"(%mask) : tensor<8xi1> -> tensor<?xi64, #graph.dims<["size0"]>>``
    """

    name = "graph.positions"
    mask = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$size `(` $mask `)` attr-dict `:` type($mask) `->` type($result)"

    def __init__(self, size: str, mask: SSAValue):
        result = tensor("i64", [Dim.symbol(size)])
        super().__init__(operands=[mask], properties={"size": StringAttr(size)}, result_types=[result])

    @property
    def bound(self) -> DimLike:
        return elements_in(self.mask)

    def infer(self) -> TensorType:
        if element_of(self.mask) != "i1" or len(shape_of(self.mask)) != 1:
            raise VerifyException("graph.positions: it takes a vector of predicates")
        self.check_name()
        return tensor("i64", [Dim.symbol(self.size.data)])

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """The positions as i64."""
        return np.flatnonzero(operands[0]).astype(np.int64)


@irdl_op_definition
class SizeOp(SizedOp):
    """The number ``value`` is from here on the dimension ``size``: 0 to ``most``, or the run fails, saying ``why``.

    ``%n = graph.size "size0"(%value) most "room0" else "Range 'r': …" : tensor<i64>``

    Where nothing else bounds it, ``most`` is a dimension of the program's own, for which there is always more room.
    """

    name = "graph.size"
    most = prop_def(StringAttr)
    why = prop_def(StringAttr)
    value = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$size `(` $value `)` `most` $most `else` $why attr-dict `:` type($value) `->` type($result)"

    def __init__(self, size: str, value: SSAValue, most: DimLike | None, why: str):
        texts = {"size": size, "most": room_of(size) if most is None else str(most), "why": why}
        properties = {name: StringAttr(text) for name, text in texts.items()}
        super().__init__(operands=[value], properties=properties, result_types=[tensor("i64", [])])

    @property
    def bound(self) -> DimLike:
        return parse_dim(self.most.data)

    def infer(self) -> TensorType:
        if (element_of(self.value), shape_of(self.value)) != ("i64", ()):
            raise VerifyException("graph.size: it takes a single i64")
        self.check_name()
        return tensor("i64", [])

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """The number. RunError where it is no size."""
        most = None if ROOM.fullmatch(self.most.data) else evaluate(self.bound, symbols or {})
        if operands[0] < 0 or (most is not None and operands[0] > most):
            raise RunError(self.why.data)
        return operands[0]


def room_of(size: str) -> str:
    """The dimension that says how large a size may be where nothing else bounds it."""
    return size.replace("size", "room")


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
