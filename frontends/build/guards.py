"""Guards of a module: conditions on the sizes of inputs, which a call checks before anything runs.

Each is a dimension that has to be at least 0, with the node that needs it. Merged, what others imply is dropped.

    h == 2*(h//2), h//2 == 2*(h//4)   →   h is a multiple of 4            min(n, 512) == n   →   n <= 512
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import gcd

from mlc.dialects.semantics.dims import Dim, DimLike, equality, equality_of, floordiv, quotient_of, symbols_of
from mlc.frontends.build.folding.fold import divisors
from mlc.frontends.build.folding.prove import implied

MAX_MERGED = 32  # guards; of more, only equal ones are merged

Guards = dict[Dim, str]


def merged(guards: Mapping[Dim, str]) -> Guards:
    """Fewer and simpler guards that hold for the same sizes."""
    found: Guards = {}
    for guard, where in guards.items():
        found |= {part: where for part in _parts(guard) if isinstance(part, Dim) and part not in found}
    if len(found) > MAX_MERGED:
        return found
    while (pair := _joined(found)) is not None:
        (one, other), both = pair
        found = {g if g != one else both: w for g, w in found.items() if g != other}
    found = {_as_multiple(g): w for g, w in found.items()}
    for guard in sorted(found, key=lambda g: -len(str(g))):
        if implied(guard, _related(guard, found)):
            del found[guard]
    return dict(sorted(found.items(), key=lambda item: any(True for _ in divisors(item[0]))))  # after their divisors


def _related(guard: Dim, found: Guards) -> list[Dim]:
    return [g for g in found if g != guard and symbols_of([g]) & symbols_of([guard])]


def _parts(guard: DimLike) -> Iterator[DimLike]:
    """Guards without minima that together say what ``guard`` says: 512-n in place of min(n, 512) == n."""
    guard = _without_division(guard)
    zero = equality_of(guard)
    sides = [s for s in (zero, -zero) if not implied(s, ())] if zero is not None else [guard]  # type: ignore[arg-type]
    split = _split(sides[0]) if len(sides) == 1 else None
    if split is not None:
        yield from (part for half in split for part in _parts(half))
    elif sides and (not isinstance(guard, Dim) or not implied(guard, ())):
        yield guard


def _without_division(guard: DimLike) -> DimLike:
    """``guard`` without its one division: h+7 >= 16 in place of (h+7)//8 >= 2."""
    terms = dict(guard.terms) if isinstance(guard, Dim) else {}
    constant = terms.pop((), 0)
    for monomial, c in terms.items():
        if len(terms) == 1 and c > 0 and (quotient := quotient_of(monomial)) is not None:
            dividend, divisor = quotient
            return _without_division(dividend - divisor * -(constant // c))
    return guard


def _split(guard: DimLike) -> tuple[DimLike, DimLike] | None:
    """The two guards that a minimum, or a maximum that is subtracted, stands for: n-m and 512-m for min(n, 512)-m."""
    for monomial, c in guard.terms if isinstance(guard, Dim) else ():
        atom = monomial[0] if len(monomial) == 1 else ""
        if not isinstance(atom, str) and atom[0] == ("min" if c > 0 else "max"):
            rest = guard - Dim.of({monomial: c})
            return rest + c * atom[1], rest + c * atom[2]
    return None


def _joined(found: Guards) -> tuple[tuple[Dim, Dim], Dim] | None:
    """Two equalities and the one that replaces both: a == 4*c for a == 2*b and b == 2*c."""
    equal = [(guard, zero) for guard in found if (zero := equality_of(guard)) is not None]
    for (one, a), (other, b) in combinations(equal, 2):
        for both in _eliminated(a, b):
            if isinstance(both, Dim) and implied(one, [both]) and implied(other, [both]):
                return (one, other), both
    return None


def _eliminated(a: Dim, b: Dim) -> Iterator[DimLike]:
    """The equalities that follow from two by eliminating a term of both."""
    left, right = dict(a.terms), dict(b.terms)
    for monomial in left.keys() & right.keys():
        common = gcd(left[monomial], right[monomial])
        combined = (right[monomial] // common) * a - (left[monomial] // common) * b
        if monomial and combined != 0:
            yield equality(combined)


def _as_multiple(guard: Dim) -> Dim:
    """An equality p == k*q as p == k*(p//k), "p is a multiple of k", where the two are equivalent."""
    zero = equality_of(guard)
    for monomial, c in zero.terms if zero is not None else ():
        rest = zero - Dim.of({monomial: c})  # type: ignore[operator]
        rest = -rest if c > 0 else rest
        if abs(c) > 1 and monomial and isinstance(rest, Dim):
            multiple = equality(rest - abs(c) * floordiv(rest, abs(c)))
            if isinstance(multiple, Dim) and implied(guard, [multiple]) and implied(multiple, [guard]):
                return multiple
    return guard
