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

Interval = tuple[DimLike, DimLike]  # the least and the most


class SizedOp(GraphOp):
    """An operator that defines the run-time dimension ``size``. It is not pure: operators use the dimension without
    reading the operator's result."""

    size = prop_def(StringAttr)

    @property
    @abstractmethod
    def bound(self) -> DimLike:
        """An upper bound of the dimension."""

    def check_name(self) -> None:
        """Raise VerifyException if the name is not that of a run-time dimension."""
        if not SIZE.fullmatch(self.size.data):
            raise VerifyException(f"{self.name}: {self.size.data!r} is not the name of a size, such as size0")


@irdl_op_definition
class NonzeroOp(SizedOp):
    """Nonzero: the indices at which a mask is true, ascending. Their number is the run-time dimension ``size``.

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
        """Return the indices as i64."""
        return np.flatnonzero(operands[0]).astype(np.int64)


@irdl_op_definition
class SizeOp(SizedOp):
    """The run-time dimension ``size`` becomes ``value``: 0 to ``most``, or the run fails with the message ``why``.

    ``%n = graph.size "size0"(%value) most "room0" else "Range 'r': …" : tensor<i64>``

    If nothing else bounds the value, ``most`` is a dimension of the program, ``room0``, which the caller can increase.
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
        """Return the value; raise RunError if it is negative or above the bound."""
        most = None if ROOM.fullmatch(self.most.data) else evaluate(self.bound, symbols or {})
        if operands[0] < 0 or (most is not None and operands[0] > most):
            raise RunError(self.why.data)
        return operands[0]


def room_of(size: str) -> str:
    """Return the dimension that bounds a run-time dimension if nothing else does."""
    return size.replace("size", "room")


def sizes_of(dims: Iterable[DimLike]) -> set[str]:
    """Return the run-time dimensions among the symbols of dimensions."""
    return {symbol for symbol in symbols_of(dims) if SIZE.fullmatch(symbol)}


def upper(value: DimLike, bounds: Mapping[str, DimLike]) -> DimLike:
    """Return an upper bound of ``value`` without run-time dimensions, if each of these is between 0 and its bound.

    Other symbols remain in the bound, so it is tight for each of their values. Interval arithmetic: a dimension that
    occurs twice may have two values, so ``size0 - size0//2`` is at most the bound of ``size0``.
    """
    return _interval(value, bounds)[1]


def _interval(value: DimLike, bounds: Mapping[str, DimLike]) -> Interval:
    if not isinstance(value, Dim) or not sizes_of([value]):
        return value, value
    low: DimLike = 0
    high: DimLike = 0
    for monomial, c in value.terms:
        least, most = _product([_atom(atom, bounds) for atom in monomial])
        low += c * (least if c > 0 else most)
        high += c * (most if c > 0 else least)
    return low, high


def _atom(atom: Atom, bounds: Mapping[str, DimLike]) -> Interval:
    if isinstance(atom, str):
        exact = Dim.symbol(atom)
        return (0, bounds[atom]) if atom in bounds else (exact, exact)
    kind, lhs, rhs = atom
    low, high = _interval(lhs, bounds)
    if kind == "//":
        if not sizes_of([rhs]):
            return low // rhs, high // rhs
        least = 0 if _is_never_negative(low) else dim_min(low, 0)  # the divisor is at least 1
        return least, high if _is_never_negative(high) else dim_max(high, -1)
    combine = dim_max if kind == "max" else dim_min
    other = _interval(rhs, bounds)
    return combine(low, other[0]), combine(high, other[1])


def _product(factors: Sequence[Interval]) -> Interval:
    """Return the bounds of the product of ``factors``."""
    low, high = factors[0] if factors else (1, 1)
    for least, most in factors[1:]:
        if _is_never_negative(low) and _is_never_negative(least):
            low, high = low * least, high * most
        elif (low, least) == (high, most):
            low = high = low * least
        else:
            size = dim_max(high, -1 * low) * dim_max(most, -1 * least)
            low, high = -1 * size, size
    return low, high


def _is_never_negative(value: DimLike) -> bool:
    """Return whether the signs of the terms prove that ``value`` is at least 0."""
    if not isinstance(value, Dim):
        return value >= 0
    return all(c > 0 and all(map(_is_extent, monomial)) for monomial, c in value.terms)


def _is_extent(atom: Atom) -> bool:
    if isinstance(atom, str):
        return True
    signs = [_is_never_negative(each) for each in (atom[1:2] if atom[0] == "//" else atom[1:])]
    return any(signs) if atom[0] == "max" else all(signs)
