"""Run-time dimensions: operators that define a dimension by data (the number of true elements of a mask, or a
value)."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import GraphOp
from mlc.dialects.semantics.dims import Atom, Dim, DimLike, dim_max, dim_min, evaluate, parse_dim, symbols_of
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, elements_in, shape_of, tensor
from mlc.errors import RunError

SIZE = re.compile(r"size\d+")  # names of run-time dimensions only
ROOM = re.compile(r"room\d+")  # upper bounds that the caller chooses: dimensions of the program


class SizedOp(GraphOp):
    """Defines the run-time dimension ``size``. Not pure: operators use the dimension without reading the result."""

    size = prop_def(StringAttr)

    @property
    @abstractmethod
    def bound(self) -> DimLike:
        """An upper bound of the dimension."""

    def check_name(self) -> None:
        """Raises VerifyException where the name is not that of a run-time dimension."""
        if not SIZE.fullmatch(self.size.data):
            raise VerifyException(f"{self.name}: {self.size.data!r} is not the name of a size, such as size0")


@irdl_op_definition
class NonzeroOp(SizedOp):
    """Nonzero: the indices where a mask is true, ascending. Their number is the run-time dimension ``size``.

    ``%p = graph.nonzero "size0"(%mask) : tensor<8xi1> -> tensor<?xi64, #graph.dims<["size0"]>>``
    """

    name = "graph.nonzero"
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
            raise VerifyException("graph.nonzero: it takes a vector of predicates")
        self.check_name()
        return tensor("i64", [Dim.symbol(self.size.data)])

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """The indices as i64."""
        return np.flatnonzero(operands[0]).astype(np.int64)


@irdl_op_definition
class SizeOp(SizedOp):
    """Define the run-time dimension ``size`` as ``value``: 0 to ``most``, or the run fails with the message ``why``.

    ``%n = graph.size "size0"(%value) most "room0" else "Range 'r': …" : tensor<i64>``

    Where nothing else bounds the value, ``most`` is a dimension of the program, ``room0``, which the caller can
    increase.
    """

    name = "graph.size"
    most = prop_def(StringAttr)
    why = prop_def(StringAttr)
    value = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$size `(` $value `)` `most` $most `else` $why attr-dict `:` type($value) `->` type($result)"

    def __init__(self, size: str, value: SSAValue, most: DimLike | None, why: str):
        strings = {"size": size, "most": room_of(size) if most is None else str(most), "why": why}
        properties = {name: StringAttr(text) for name, text in strings.items()}
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
        """The value. RunError where it is negative or above the bound."""
        most = None if ROOM.fullmatch(self.most.data) else evaluate(self.bound, symbols or {})
        if operands[0] < 0 or (most is not None and operands[0] > most):
            raise RunError(self.why.data)
        return operands[0]


def room_of(size: str) -> str:
    """The dimension that bounds a run-time dimension where nothing else does."""
    return size.replace("size", "room")


def sizes_of(dims: Iterable[DimLike]) -> set[str]:
    """The run-time dimensions among the symbols of dimensions."""
    return {symbol for symbol in symbols_of(dims) if SIZE.fullmatch(symbol)}


def upper(value: DimLike, bounds: Mapping[str, DimLike]) -> DimLike:
    """An upper bound of ``value``, without run-time dimensions, if each of these is between 0 and its bound.

    Other symbols remain, so the bound is tight for each of their values.
    """
    if not isinstance(value, Dim) or not sizes_of([value]):
        return value
    total: DimLike = 0
    for monomial, c in value.terms:
        falling = {atom for atom in monomial if _falls(atom)}
        rounded_up = bool(falling) and c * (-1) ** sum(atom in falling for atom in monomial) > 0
        if c < 0 and not rounded_up and any(_has_size(atom) for atom in monomial):
            continue  # a value of at least 0 is subtracted
        term: DimLike = abs(c)
        for atom in monomial:
            bound = _upper_negated if rounded_up and atom in falling else _upper_atom
            term = term * bound(atom, bounds)
        total = total + (term if rounded_up or c > 0 else -term)
    return total


def _falls(atom: Atom) -> bool:
    """Whether an atom is a quotient that falls as run-time dimensions rise. ``-((2-size0)//4)`` is one rounded up."""
    if isinstance(atom, str) or atom[0] != "//" or not isinstance(atom[1], Dim):
        return False
    return _has_size(atom) and all(c < 0 for monomial, c in atom[1].terms if monomial)


def _upper_negated(atom: Atom, bounds: Mapping[str, DimLike]) -> DimLike:
    """An upper bound of minus a quotient that falls: the quotient rounded up."""
    assert not isinstance(atom, str)
    _, lhs, rhs = atom
    return -(-upper(-lhs, bounds) // (rhs if not sizes_of([rhs]) else 1))


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
