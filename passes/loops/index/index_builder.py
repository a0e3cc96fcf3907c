"""Dimension expressions as index arithmetic, on scalars, or on vectors for gathered access."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import Atom, Dim, DimLike, floordiv

AXIS = "@"  # prefix of the symbol of an axis of the register tile
EMPTY: Mapping[tuple[Hashable, ...], SSAValue] = MappingProxyType({})


class IndexBuilder:
    """Appends operations to ``block``. ``env`` maps the names of loop variables to index values; ``known`` maps index
    arithmetic to existing values, so that neighbouring offsets share all but a constant."""

    def __init__(self, block: Block, env: dict[str, SSAValue], known: Mapping[tuple[Hashable, ...], SSAValue] = EMPTY):
        self.block, self.env, self.known = block, env, dict(known)

    def at(self, block: Block) -> IndexBuilder:
        """A builder for a block nested in this one; to which nothing may be added until the nested block is
        complete."""
        return IndexBuilder(block, self.env, self.known)

    def _index(self, kind: Callable[..., Operation], *operands: Any) -> SSAValue:
        key = (kind, *operands)
        if key not in self.known:
            self.known[key] = self.emit(kind(*operands))
        return self.known[key]

    def emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: int) -> SSAValue:
        return self._index(_constant, value)

    def dim(self, value: DimLike) -> SSAValue:
        """``value`` as an ``index``; a name is a loop variable, else a symbolic dimension."""
        if isinstance(value, int):
            return self.constant(value)
        total: SSAValue | None = None
        for monomial, c in sorted(value.terms, key=lambda term: not term[0]):  # the constant last
            factors = [self._atom(a) for a in monomial]
            if c != 1 or not factors:
                factors.append(self.constant(c))
            term = factors[0]
            for f in factors[1:]:
                term = self._index(arith.MuliOp, term, f)
            total = term if total is None else self._index(arith.AddiOp, total, term)
        assert total is not None
        return total

    def _atom(self, atom: Atom) -> SSAValue:
        if isinstance(atom, str):
            if atom not in self.env:
                return self._index(kernel.SymbolOp, atom)
            return self.env[atom]
        kind, lhs, rhs = atom
        op = {"//": arith.FloorDivSIOp, "max": arith.MaxSIOp, "min": arith.MinSIOp}[kind]
        return self._index(op, self.dim(lhs), self.dim(rhs))

    def lanes(self, value: DimLike, shapes: Mapping[str, VectorType], full: VectorType) -> SSAValue:
        """``value``, with axis symbols (of types ``shapes``), as a vector of integers of type ``full``."""
        assert isinstance(value, Dim)
        varying = [(m, c) for m, c in value.terms if mentions_axis(Dim(((m, c),)))]
        same = value - Dim(tuple(varying))
        total = None if same == 0 else self._splat(self.dim(same), full)
        for monomial, c in varying:
            factors = [self._lane_atom(atom, shapes, full) for atom in monomial]
            term = reduce(lambda a, b: self.emit(arith.MuliOp(a, b)), self._factor(c, full) + factors)
            total = term if total is None else self.emit(arith.AddiOp(total, term))
        assert total is not None
        return total

    def _factor(self, c: int, full: VectorType) -> list[SSAValue]:
        return [] if c == 1 else [self._splat(self.constant(c), full)]

    def _splat(self, value: SSAValue, full: VectorType) -> SSAValue:
        if isinstance(value.type, IndexType):
            value = self.emit(arith.IndexCastOp(value, full.element_type))
        return self.emit(vector.BroadcastOp(value, full))

    def _lane_atom(self, atom: Atom, shapes: Mapping[str, VectorType], full: VectorType) -> SSAValue:
        if isinstance(atom, str):
            if atom in shapes:
                return self._splat(self.emit(kernel.StepOp(shapes[atom])), full)
            return self._splat(self._atom(atom), full)
        kind, lhs, rhs = atom
        if not mentions_axis(Dim((((atom,), 1),))):
            return self._splat(self._atom(atom), full)
        op = {"//": arith.FloorDivSIOp, "max": arith.MaxSIOp, "min": arith.MinSIOp}[kind]
        sides = [
            self.lanes(s, shapes, full) if mentions_axis(s) else self._splat(self.dim(s), full) for s in (lhs, rhs)
        ]
        return self.emit(op(sides[0], sides[1]))


def _constant(value: int) -> Operation:
    return arith.ConstantOp(IntegerAttr(value, IndexType()))


def mentions_axis(value: DimLike) -> bool:
    return isinstance(value, Dim) and any(s.startswith(AXIS) for s in value.symbols())


def simplify(value: DimLike, sizes: Mapping[str, int]) -> DimLike:
    """Remove floor divisions that are 0 because axis symbols are below their tile size: (@n)//32 with @n < 32."""
    if isinstance(value, int):
        return value
    total: DimLike = 0
    for monomial, c in value.terms:
        term: DimLike = c
        for atom in monomial:
            term = term * _simplify_atom(atom, sizes)
        total = total + term
    return total


def _simplify_atom(atom: Atom, sizes: Mapping[str, int]) -> DimLike:
    if isinstance(atom, str):
        return Dim.symbol(atom)
    kind, lhs, rhs = atom
    if kind == "//" and isinstance(rhs, int):
        lhs = simplify(lhs, sizes)
        span = _span(lhs, sizes)
        if span is not None and span[0] >= 0 and span[1] < rhs:
            return 0
        return floordiv(lhs, rhs)
    return Dim((((atom,), 1),))


def _span(value: DimLike, sizes: Mapping[str, int]) -> tuple[int, int] | None:
    """(least, greatest) value of a linear function of axis symbols; None for other values."""
    if isinstance(value, int):
        return value, value
    low = high = 0
    for monomial, c in value.terms:
        if monomial and (len(monomial) > 1 or monomial[0] not in sizes):
            return None
        ends = (c, c) if not monomial else tuple(sorted((0, c * (sizes[monomial[0]] - 1))))  # type: ignore[index]
        low, high = low + ends[0], high + ends[1]
    return low, high


def split_axes(value: DimLike, axes: tuple[str, ...]) -> tuple[DimLike, tuple[DimLike, ...]] | None:
    """``base + Σ stride·axis``, or None where the value is not linear in the axes."""
    base: DimLike = 0
    strides: list[DimLike] = [0] * len(axes)
    for monomial, c in value.terms if isinstance(value, Dim) else (((), value),):
        term = Dim.of({monomial: c})
        if not mentions_axis(term):
            base = base + term
            continue
        plain = [a for a in monomial if isinstance(a, str) and a in axes]
        rest = tuple(a for a in monomial if a not in plain)
        if len(plain) != 1 or mentions_axis(Dim.of({rest: 1})):
            return None
        strides[axes.index(plain[0])] = strides[axes.index(plain[0])] + Dim.of({rest: c})
    return base, tuple(strides)
