"""Lowering of dimension expressions to index arithmetic, on scalars, or on vectors for gathered access."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache, reduce
from math import gcd
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import Atom, Dim, DimLike, Monomial, floordiv, product, sum_of, symbols_of

NO_FLAGS = {"overflowFlags": arith.IntegerOverflowAttr("none")}
AXIS = "@"  # prefix of the symbol of an axis of the register tile


class IndexBuilder:
    """A builder that appends index arithmetic to ``block``.

    ``env`` maps the names of loop variables to index values; ``known`` maps index arithmetic to existing values, so
    that neighbouring offsets share all but a constant. ``outer`` is the builder of the block around this one. A builder
    that ``hoists`` inserts arithmetic into the outermost block that has its operands, before the nested operation; this
    is safe, because no division traps.
    """

    def __init__(
        self, block: Block, env: dict[str, SSAValue], outer: IndexBuilder | None = None, hoists: bool = False
    ) -> None:
        self.block, self.env, self.hoists = block, env, hoists
        self.around: tuple[IndexBuilder, ...] = (*outer.around, self) if outer else (self,)
        known = outer.known if outer else {}
        self.known: dict[tuple[Hashable, ...], SSAValue] = known if hoists else dict(known)

    def at(self, block: Block) -> IndexBuilder:
        """Return a builder for a block nested in the last operation of this block. Nothing may be added to this block
        until the nested block is complete."""
        return IndexBuilder(block, self.env, self, self.hoists)

    def _index(self, kind: Callable[..., Operation], *operands: Any) -> SSAValue:
        key = (kind, *operands)
        value = self.known.get(key)
        if value is None:
            home = self.around[max(map(self._depth, operands))] if self.hoists else self
            op = _created(kind, operands)
            value = self.known[key] = self.emit(op) if home is self else home.emit_before(op)
        return value

    def emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def emit_before(self, op: Operation) -> SSAValue:
        """Insert ``op`` before the operation in which a nested block is being built."""
        assert (nest := self.block.last_op) is not None
        self.block.insert_op_before(op, nest)
        return op.results[0]

    def arithmetic(self, kind: Callable[..., Operation], *operands: SSAValue) -> SSAValue:
        """Return the result of an operation in a loop bound or a tile's coordinate."""
        return self._index(kind, *operands) if self.hoists else self.emit(kind(*operands))

    def _depth(self, operand: Any) -> int:
        """Return the number of blocks around the one that defines ``operand``; 0 if it is no value."""
        owner = getattr(operand, "owner", None)
        if owner is None or type(owner) is arith.ConstantOp:
            return 0
        block = owner if type(owner) is Block else owner.parent
        return next((n for n, builder in enumerate(self.around) if builder.block is block), len(self.around) - 1)

    def constant(self, value: int) -> SSAValue:
        return self._index(_constant, value)

    def dim(self, value: DimLike) -> SSAValue:
        """Return ``value`` as an ``index``; a name is a loop variable, or else a symbolic dimension."""
        if isinstance(value, int):
            return self.constant(value)
        if self.hoists:
            return self._remembered(value, self._by_depth)
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

    def named(self, value: DimLike) -> DimLike:
        """Return a symbol for ``value``, which is computed here, so that products with it stay short polynomials."""
        if isinstance(value, int):
            return value
        made = self.dim(value)
        name = next((name for name, known in self.env.items() if known is made), f"n{len(self.env)}")
        self.env[name] = made
        return Dim.symbol(name)

    def _remembered(self, value: Dim, build: Callable[[Dim], SSAValue]) -> SSAValue:
        """Return ``build(value)``, computed once and reused."""
        key = (build.__name__, value)
        if key not in self.known:
            self.known[key] = build(value)
        return self.known[key]

    def _by_depth(self, value: Dim) -> SSAValue:
        """Return ``value`` as a sum over loop variables, those of outer loops first, each times a stride: of ``y *
        (w+2) + x``, ``y * (w+2)`` is computed once in the loop over y. The constant is the last term."""
        strides: dict[tuple[int, Monomial], DimLike] = {}
        for monomial, c in value.terms:
            depths = {atom: self._depth_of(atom) for atom in monomial}
            depth = max(depths.values(), default=len(self.around))
            inner = tuple(atom for atom in monomial if depths[atom] == depth > 0)
            rest = tuple(atom for atom in monomial if depths[atom] < depth or depth == 0)
            strides[depth, inner] = strides.get((depth, inner), 0) + Dim.of({rest: c})
        terms = [
            self._product(inner, stride) for (_, inner), stride in sorted(strides.items(), key=lambda item: item[0][0])
        ]
        return reduce(lambda a, b: self._index(arith.AddiOp, a, b), terms)

    def _product(self, variables: Monomial, stride: DimLike) -> SSAValue:
        factors = [self._atom(atom) for atom in variables]
        if stride != 1 or not factors:
            factors.append(self._polynomial(stride) if self._is_outermost(stride) else self.dim(stride))
        return reduce(lambda a, b: self._index(arith.MuliOp, a, b), factors)

    def _is_outermost(self, value: DimLike) -> bool:
        """Return whether ``value`` has no loop variable."""
        return isinstance(value, int) or not any(self._depth_of(atom) for m, _ in value.terms for atom in m)

    def _polynomial(self, value: DimLike) -> SSAValue:
        """Return a polynomial of symbolic dimensions, computed in few operations: ``16*h*w + 32*h`` as ``h * (w + 2) *
        16``."""
        return self.constant(value) if isinstance(value, int) else self._remembered(value, self._factored)

    def _factored(self, value: Dim) -> SSAValue:
        content = gcd(*(c for _, c in value.terms))
        if content > 1:
            primitive = Dim.of({m: c // content for m, c in value.terms})
            return self._index(arith.MuliOp, self._polynomial(primitive), self.constant(content))
        atoms = [atom for monomial, _ in value.terms for atom in dict.fromkeys(monomial)]
        atom = max(atoms, key=atoms.count)
        of_atom = {m: c for m, c in value.terms if atom in m}
        factor, rest = Dim.of({_without(atom, m): c for m, c in of_atom.items()}), value - Dim.of(of_atom)
        multiple = None if rest == 0 or factor == 1 else _multiple(rest, factor)
        other = self._atom(atom)
        if multiple is not None:
            other, rest = self._index(arith.AddiOp, other, self.constant(multiple)), 0
        product = other if factor == 1 else self._index(arith.MuliOp, other, self._polynomial(factor))
        return product if rest == 0 else self._index(arith.AddiOp, product, self._polynomial(rest))

    def _depth_of(self, atom: Atom) -> int:
        names = {atom} if isinstance(atom, str) else symbols_of(atom[1:])
        return max((self._depth(self.env.get(name)) for name in names), default=0)

    def _atom(self, atom: Atom) -> SSAValue:
        if isinstance(atom, str):
            if atom not in self.env:
                return self._index(kernel.SymbolOp, atom)
            return self.env[atom]
        kind, lhs, rhs = atom
        op = {"//": arith.FloorDivSIOp, "max": arith.MaxSIOp, "min": arith.MinSIOp}[kind]
        return self._index(op, self.dim(lhs), self.dim(rhs))

    def lanes(self, value: DimLike, shapes: Mapping[str, VectorType], full: VectorType) -> SSAValue:
        """Return ``value``, which has axis symbols (of types ``shapes``), as a vector of integers of type ``full``."""
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


def _without(atom: Atom, monomial: Monomial) -> Monomial:
    """Return ``monomial`` divided by ``atom``."""
    n = monomial.index(atom)
    return monomial[:n] + monomial[n + 1 :]


def _multiple(value: DimLike, factor: DimLike) -> int | None:
    """Return the integer whose product with ``factor`` is ``value``; None if there is none."""
    first, other = (d.terms[0][1] if isinstance(d, Dim) else d for d in (value, factor))
    return first // other if factor * (first // other) == value else None


def _created(kind: Callable[..., Operation], operands: tuple[Any, ...]) -> Operation:
    """Return ``kind(*operands)``. Sums and products, a fifth of all operations, are made without the constructor,
    which takes three times as long."""
    if kind is arith.AddiOp or kind is arith.MuliOp:
        return kind.create(operands=operands, result_types=[operands[0].type], properties=NO_FLAGS)
    return kind(*operands)


def _constant(value: int) -> Operation:
    return arith.ConstantOp(IntegerAttr(value, IndexType()))


def mentions_axis(value: DimLike) -> bool:
    return isinstance(value, Dim) and any(_varies(atom) for monomial, _ in value.terms for atom in monomial)


def simplify(value: DimLike, sizes: Mapping[str, int]) -> DimLike:
    """Remove floor divisions that are 0 because axis symbols are below their tile size: (@n)//32 with @n < 32."""
    if isinstance(value, int):
        return value
    divided = [(m, c) for m, c in value.terms if not all(isinstance(atom, str) for atom in m)]
    if not divided:
        return value
    plain = Dim.of({m: c for m, c in value.terms if all(isinstance(atom, str) for atom in m)})
    return sum_of([plain, *(product([c, *(_simplify_atom(atom, sizes) for atom in m)]) for m, c in divided)])


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
    """Return the least and the greatest value of a linear function of axis symbols; None for other values."""
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
    """Return ``value`` as (base, strides) of ``base + Σ stride·axis``; None if it is not linear in the axes."""
    base: dict[Monomial, int] = {}
    strides: dict[Atom, dict[Monomial, int]] = {axis: {} for axis in axes}
    for monomial, c in value.terms if isinstance(value, Dim) else (((), value),):
        varying = [atom for atom in monomial if _varies(atom)]
        if not varying:
            base[monomial] = c
        elif len(varying) == 1 and varying[0] in strides:
            strides[varying[0]][_without(varying[0], monomial)] = c
        else:
            return None
    return Dim.of(base), tuple(map(Dim.of, strides.values()))


@lru_cache(maxsize=16384)
def _varies(atom: Atom) -> bool:
    names = (atom,) if isinstance(atom, str) else symbols_of(atom[1:])
    return any(name.startswith(AXIS) for name in names)
