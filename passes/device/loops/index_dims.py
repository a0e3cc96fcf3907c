"""Index arithmetic as dimension expressions, and as linear functions of loop variables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import Dim, DimLike, dim_max, dim_min, floordiv, parse_dim, symbols_of

Names = Mapping[SSAValue, str]
"""The loop variables on which an index may depend, and their symbols."""


def dim_of(value: SSAValue, names: Names = MappingProxyType({})) -> DimLike | None:
    """Return an index as a dimension expression over the kernel's symbols and ``names``; None if it has no such
    form."""
    if value in names:
        return Dim.symbol(names[value])
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    if isinstance(op, kernel.SymbolOp):
        return parse_dim(op.dim.data)
    if not isinstance(op, Operation) or len(op.operands) != 2:
        return None
    a, b = (dim_of(v, names) for v in op.operands)
    return None if a is None or b is None else _combined(op, a, b)


def _combined(op: Operation, a: DimLike, b: DimLike) -> DimLike | None:
    match op:
        case arith.AddiOp():
            return a + b
        case arith.SubiOp():
            return a - b
        case arith.MuliOp():
            return a * b
        case arith.FloorDivSIOp() | arith.DivSIOp():  # isl divides so what is not negative
            return floordiv(a, b)
        case arith.MinSIOp():
            return dim_min(a, b)
        case arith.MaxSIOp():
            return dim_max(a, b)
    return None


def linear(dim: DimLike, names: Names) -> tuple[dict[str, int], DimLike] | None:
    """Return the coefficients of the variables in an expression, and the rest, which does not depend on them; None if
    it is not linear in them. ``520 - 32·%i`` has {i: -32} and 520."""
    found, rest, known = dict[str, int](), dict[tuple, int](), set(names.values())
    for monomial, coefficient in dim.terms if isinstance(dim, Dim) else (((), dim),):
        if len(monomial) == 1 and monomial[0] in known:
            found[str(monomial[0])] = coefficient
        elif symbols_of([Dim(((monomial, coefficient),))]) & known:
            return None
        else:
            rest[monomial] = coefficient
    return found, Dim.of(rest)
