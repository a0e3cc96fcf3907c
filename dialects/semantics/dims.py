"""Symbolic dimensions: integer polynomials over named symbols, with floor division, max and min as atoms.

A dimension of a tensor is an ``int`` or a :class:`Dim` (``batch``, ``2*seq+1``, ``(h-1)//2``). A Dim has a canonical
form, so equal polynomials are equal objects with equal text, in Python's syntax.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd

from xdsl.utils.exceptions import VerifyException

from mlc.expressions import parse_expression, source_names
from mlc.expressions import signature_names as signature_names

Atom = str | tuple["str", "Dim", "Dim"]  # a symbol, or ("//" | "max" | "min" | "%", lhs, rhs)
Monomial = tuple[Atom, ...]
MAX_STEPS = 64  # of a division of polynomials


class DimError(VerifyException, ValueError):
    """An error: a text is not a dimension expression."""


@lru_cache(maxsize=1 << 14)
def _key(monomial: Monomial) -> tuple[int, str]:
    return -len(monomial), str([atom if isinstance(atom, str) else atom_text(atom) for atom in monomial])


@lru_cache(maxsize=1 << 14)
def atom_text(atom: Atom) -> str:
    if isinstance(atom, str):
        return atom
    kind, lhs, rhs = atom
    return f"{kind}({lhs}, {rhs})" if kind in ("max", "min") else f"(({lhs}){kind}({rhs}))"


@dataclass(frozen=True)
class Dim:
    """A polynomial: ``terms`` maps monomials to nonzero integer coefficients, in canonical order."""

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of(terms: Mapping[Monomial, int]) -> DimLike:
        """Return the canonical dimension of ``terms``: an int if it has no symbol."""
        kept = {m: c for m, c in terms.items() if c}
        if not kept or set(kept) == {()}:
            return kept.get((), 0)
        return Dim(tuple(kept.items() if len(kept) == 1 else sorted(kept.items(), key=lambda item: _key(item[0]))))

    @staticmethod
    def symbol(name: str) -> Dim:
        return Dim((((name,), 1),))

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: DimLike) -> DimLike:
        return self if other == 0 else sum_of((self, other))

    __radd__ = __add__

    def __neg__(self) -> DimLike:
        return Dim(tuple([(m, -c) for m, c in self.terms]))

    def __sub__(self, other: DimLike) -> DimLike:
        return self + (-other)

    def __rsub__(self, other: DimLike) -> DimLike:
        return (-self) + other

    def __mul__(self, other: DimLike) -> DimLike:
        if isinstance(other, int):
            return Dim(tuple([(m, c * other) for m, c in self.terms])) if other else 0
        total: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in _terms(other).items():
                monomial = tuple(sorted((*m1, *m2), key=atom_text))
                total[monomial] = total.get(monomial, 0) + c1 * c2
        return Dim.of(total)

    __rmul__ = __mul__

    def __floordiv__(self, other: DimLike) -> DimLike:
        return floordiv(self, other)

    def __rfloordiv__(self, other: int) -> DimLike:
        return floordiv(other, self)

    def __mod__(self, other: DimLike) -> DimLike:
        return self - floordiv(self, other) * other

    def __rmod__(self, other: int) -> DimLike:
        return other - floordiv(other, self) * self

    def __str__(self) -> str:
        out = ""
        for monomial, c in self.terms:
            factors = [atom_text(a) for a in monomial]
            if abs(c) != 1 or not factors:
                factors.insert(0, str(abs(c)))
            out += ("-" if c < 0 else "+" if out else "") + "*".join(factors)
        return out

    __repr__ = __str__

    def symbols(self) -> set[str]:
        """Return the names of all symbols."""
        return set(self._symbols)

    @cached_property
    def _symbols(self) -> frozenset[str]:
        atoms = {atom for monomial, _ in self.terms for atom in monomial}
        return frozenset().union(*({a} if isinstance(a, str) else symbols_of(a[1:]) for a in atoms))

    def evaluate(self, values: Mapping[str, DimLike]) -> DimLike:
        """Replace symbols by values (ints or other dims); symbols without a value remain."""
        if values.keys().isdisjoint(self._symbols):
            return self
        return sum_of(product([c, *(_evaluate_atom(a, values) for a in monomial)]) for monomial, c in self.terms)


DimLike = int | Dim


def _terms(value: DimLike) -> dict[Monomial, int]:
    return dict(value.terms) if isinstance(value, Dim) else {(): value}


def sum_of(values: Iterable[DimLike]) -> DimLike:
    """Return the sum of dimensions. Many summands are added at once, so that terms are sorted once."""
    total: dict[Monomial, int] = {}
    for value in values:
        for monomial, c in value.terms if isinstance(value, Dim) else (((), value),):
            total[monomial] = total.get(monomial, 0) + c
    return Dim.of(total)


def _evaluate_atom(atom: Atom, values: Mapping[str, DimLike]) -> DimLike:
    if isinstance(atom, str):
        return values.get(atom, Dim.symbol(atom))
    kind, lhs, rhs = atom
    combine = {"//": floordiv, "max": dim_max, "min": dim_min}[kind]
    return combine(evaluate(lhs, values), evaluate(rhs, values))


def evaluate(value: DimLike, values: Mapping[str, DimLike]) -> DimLike:
    return value.evaluate(values) if isinstance(value, Dim) else value


def floordiv(lhs: DimLike, rhs: DimLike) -> DimLike:
    """Return the floor division in canonical form: divisible terms are divided, and nested divisions become one.

    (4*h+5)//4 → h+1+1//4 → h+1       (2*h+4)//4 → (h+2)//2       ((h+1)//2+1)//2 → (h+3)//4
    (-h)//2 → -((h+1)//2)             (2*a+2)//(a+1) → 2              h//(-2) → -((h+1)//2)
    """
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs // rhs
    if rhs == 1 or lhs == rhs:
        return lhs if rhs == 1 else 1
    if isinstance(rhs, int) and rhs != 0:
        return _divided_by_int(_terms(lhs if rhs > 0 else -lhs), abs(rhs))
    exact, rest = _divide(lhs, rhs)
    return exact if rest == 0 else exact + _without_common_factor(rest, rhs)


def _without_common_factor(lhs: DimLike, rhs: DimLike) -> DimLike:
    """Divide by common factors of both sides first: (4*a*b+4*b)//(8*a+8) is b//2, (a*b)//(9*a) is b//9."""
    divisor = _terms(rhs)
    if len(divisor) == 1:
        (monomial,) = divisor
        for atom in monomial:
            if all(atom in m for m in _terms(lhs)):
                return floordiv(_divide(lhs, Dim.of({(atom,): 1}))[0], _divide(rhs, Dim.of({(atom,): 1}))[0])
    elif (content := gcd(*divisor.values())) > 1:
        exact, rest = _divide(lhs, Dim.of({m: c // content for m, c in divisor.items()}))
        if rest == 0:
            return floordiv(exact, content)
    return _opaque("//", lhs, rhs)


def _divided_by_int(terms: dict[Monomial, int], by: int) -> DimLike:
    """Return the floor division of a polynomial by a positive integer."""
    exact = Dim.of({m: k // by for m, k in terms.items() if m == () or k % by == 0})
    rest = Dim.of({m: k % by if m == () else k for m, k in terms.items() if k % by})
    if isinstance(rest, int):  # from 0 to by - 1
        return exact
    common = gcd(by, *(k for m, k in rest.terms if m != ()))
    if common > 1:
        return exact + _divided_by_int({m: k // common for m, k in rest.terms}, by // common)
    if rest.terms[0][1] < 0:
        return exact - _divided_by_int(_terms(-rest + (by - 1)), by)
    inner, offset = quotient_of(rest.terms[0][0]), Dim.of(dict(rest.terms[1:]))
    if inner is not None and rest.terms[0][1] == 1 and isinstance(offset, int) and inner[1] > 0:
        return exact + floordiv(inner[0] + offset * inner[1], inner[1] * by)
    return exact + _opaque("//", rest, by)


def _divide(lhs: DimLike, rhs: DimLike) -> tuple[DimLike, DimLike]:
    """Return (quotient, rest) with lhs = quotient * rhs + rest, where every divisible term of lhs is in the quotient.
    For a divisor of several terms, the quotient is 0 unless the rest is an integer."""
    quotient: DimLike = 0
    rest, (by, c), single = lhs, *list(_terms(rhs).items())[:1], len(_terms(rhs)) == 1
    for _ in range(MAX_STEPS):
        found = next((q for m, k in _terms(rest).items() if (q := _term_quotient(m, k, by, c)) is not None), None)
        if found is None:
            break
        quotient, rest = quotient + found, rest - found * rhs
    return (quotient, rest) if single or isinstance(rest, int) else (0, lhs)


def _term_quotient(monomial: Monomial, k: int, by: Monomial, c: int) -> DimLike | None:
    """Return the term t with t * c * by = k * monomial, or None if there is none."""
    left = list(monomial)
    if k % c or any(left.count(a) < by.count(a) for a in by):
        return None
    for a in by:
        left.remove(a)
    return Dim.of({tuple(left): k // c})


def _opaque(kind: str, lhs: DimLike, rhs: DimLike) -> Dim:
    return Dim((((((kind, lhs, rhs)),), 1),))  # type: ignore[arg-type]


def quotient_of(monomial: Monomial) -> tuple[DimLike, int] | None:
    """Return (dividend, divisor) of a monomial that is one floor division by a constant; None for other monomials."""
    atom = monomial[0] if len(monomial) == 1 else ""
    if isinstance(atom, str) or atom[0] != "//" or not isinstance(atom[2], int):
        return None
    return atom[1], atom[2]


def minimum_of(monomial: Monomial) -> tuple[DimLike, DimLike] | None:
    """Return both sides of a monomial that is one minimum; None for other monomials."""
    atom = monomial[0] if len(monomial) == 1 else ""
    return None if isinstance(atom, str) or atom[0] != "min" else atom[1:]


def ceildiv(lhs: DimLike, rhs: DimLike) -> DimLike:
    return floordiv(lhs + (rhs - 1), rhs) if isinstance(rhs, int) and rhs > 0 else -floordiv(-lhs, rhs)


def _extreme(kind: str, lhs: DimLike, rhs: DimLike) -> DimLike:
    difference = lhs - rhs
    if isinstance(difference, int):
        larger = lhs if difference >= 0 else rhs
        return larger if kind == "max" else (rhs if larger is lhs else lhs)
    return _opaque(kind, lhs, rhs)


def dim_max(lhs: DimLike, rhs: DimLike) -> DimLike:
    return _extreme("max", lhs, rhs)


def dim_min(lhs: DimLike, rhs: DimLike) -> DimLike:
    return _extreme("min", lhs, rhs)


def product(dims: Iterable[DimLike]) -> DimLike:
    total: DimLike = 1
    for dim in dims:
        total = total * dim
    return total


def equality(value: DimLike) -> DimLike:
    """Return the guard of ``value == 0``, ``min(value, -value)``: it is 0 if ``value`` is 0, and negative otherwise."""
    if isinstance(value, int):
        return -abs(value)
    value = -value if value.terms[0][1] < 0 else value
    return _opaque("min", value, -value)


def equality_of(guard: DimLike) -> Dim | None:
    """Return the value that a guard of ``equality`` compares with 0; None for other guards."""
    sides = minimum_of(guard.terms[0][0]) if isinstance(guard, Dim) and len(guard.terms) == 1 else None
    return sides[0] if sides is not None and isinstance(sides[0], Dim) and sides[0] + sides[1] == 0 else None


def guard_text(guard: DimLike, where: str) -> str:
    """Return a guard as it is in attributes, with the operator that needs it: ``-seq+9: Slice at node 'rows'``."""
    return f"{guard}: {where}" if where else str(guard)


def parse_guard(text: str) -> tuple[DimLike, str]:
    """Return the dimension that must be at least 0, and the operator that needs it."""
    guard, _, where = text.partition(": ")
    return parse_dim(guard), where


def condition(guard: DimLike) -> str:
    """Return ``guard >= 0`` in readable form, with the source's names: ``9 - seq`` → ``seq <= 9``, ``n_ - 3`` → ``n >=
    3``; for an equality ``n == 2*m`` or ``height is a multiple of 32``."""
    zero = equality_of(guard)
    plus, minus = _sides(guard if zero is None else zero)
    if zero is not None:
        return source_names(_multiple(plus, minus) or _multiple(minus, plus) or f"{pretty(plus)} == {pretty(minus)}")
    if (both := _of_two(guard)) is not None:
        return f" {'or' if both[0] == 'max' else 'and'} ".join(map(condition, both[1:]))
    inverse = -1 - guard
    if (zero := equality_of(inverse)) is not None:
        return source_names("{} != {}".format(*map(pretty, _sides(zero))))
    if (both := _of_two(inverse)) is not None:
        return f" {'or' if both[0] == 'min' else 'and'} ".join(condition(-1 - side) for side in both[1:])
    less, more = pretty(minus), pretty(plus)
    return source_names(f"{more} >= {less}" if isinstance(minus, int) else f"{less} <= {more}")


def _of_two(guard: DimLike) -> tuple[str, Dim, Dim] | None:
    """Return the name and both sides of a guard that is one maximum or minimum; None for other guards."""
    atom = guard.terms[0][0][0] if isinstance(guard, Dim) and len(guard.terms) == len(guard.terms[0][0]) == 1 else ""
    is_extreme = not isinstance(atom, str) and atom[0] in ("max", "min") and guard.terms[0][1] == 1  # type: ignore[union-attr]
    return atom if is_extreme else None  # type: ignore[return-value]


def _sides(value: DimLike) -> tuple[DimLike, DimLike]:
    """Return two dimensions without negative terms, whose difference is ``value``."""
    terms = _terms(value)
    return Dim.of({m: c for m, c in terms.items() if c > 0}), Dim.of({m: -c for m, c in terms.items() if c < 0})


def _multiple(value: DimLike, whole: DimLike) -> str | None:
    """Return the text of ``value == whole`` if ``whole`` is k * (value // k); None otherwise."""
    k = whole.terms[0][1] if isinstance(whole, Dim) else 0
    return f"{pretty(value)} is a multiple of {k}" if k > 1 and floordiv(value, k) * k == whole else None


def pretty(value: DimLike) -> str:
    """Return the text without unneeded brackets: ``2*(h//2)+1``."""
    if isinstance(value, int):
        return str(value)
    out = ""
    for monomial, c in value.terms:
        factors = [_pretty_atom(a, len(monomial) > 1 or abs(c) != 1) for a in monomial]
        factors = factors if abs(c) == 1 and factors else [str(abs(c)), *factors]
        out += ("-" if c < 0 else "+" if out else "") + "*".join(factors)
    return out


def _pretty_atom(atom: Atom, inside: bool) -> str:
    if isinstance(atom, str):
        return atom
    kind, lhs, rhs = atom
    if kind in ("max", "min"):
        return f"{kind}({pretty(lhs)}, {pretty(rhs)})"
    left, right = (f"({pretty(s)})" if isinstance(s, Dim) and str(s) not in s.symbols() else str(s) for s in (lhs, rhs))
    return f"({left}{kind}{right})" if inside else f"{left}{kind}{right}"


def symbols_of(dims: Iterable[DimLike]) -> set[str]:
    return {s for dim in dims if isinstance(dim, Dim) for s in dim.symbols()}


_BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: floordiv,
    ast.Mod: lambda a, b: a - floordiv(a, b) * b,
}


@lru_cache(maxsize=4096)  # every type and operator with a dimension parses it
def parse_dim(text: str) -> DimLike:
    """Parse ``"2*seq + 1"``.

    Raises:
        DimError: not an expression over integers, names, ``+ - * // %``, ``max`` and ``min``.
    """
    try:
        return _from_ast(parse_expression(text))
    except (SyntaxError, KeyError, AttributeError, ZeroDivisionError) as e:
        raise DimError(f"{text!r} is not a dimension: integers, names and + - * // % max min are allowed") from e


def _from_ast(node: ast.expr) -> DimLike:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return Dim.symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_from_ast(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_from_ast(left), _from_ast(right))
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[lhs, rhs]):
            return _extreme(name, _from_ast(lhs), _from_ast(rhs))
    raise DimError(f"{ast.unparse(node)!r} is not a dimension")
