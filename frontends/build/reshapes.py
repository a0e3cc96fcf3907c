"""Reshapes between shapes whose numbers of elements are only equal at some sizes: a guard, and extents as it says.

    [c, h, w] as [c, h//2, 2, w//2, 2]:   h and w are multiples of 2, [c, h, w] is cut to [c, 2*(h//2), 2*(w//2)]
    [a, b] as [c, d]:                     a*b == c*d
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from itertools import islice
from math import gcd
from typing import TYPE_CHECKING

from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, floordiv, product, symbols_of
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.prove import never_zero
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import fix

if TYPE_CHECKING:
    from mlc.frontends.build.methods.movement import Movement

MOST_DIFFERENT = 256  # of two extents that a guard makes equal one by one
LARGEST_FACTOR = 64  # of a quotient, in such an extent
MOST_TRIED = 256  # combinations of extents


def with_elements(build: Movement, x: Tensor, shape: Sequence[DimLike]) -> Tensor:
    """``x`` cut to a shape with as many elements as ``shape`` has, which guards require. ``x`` unchanged where no guard
    can.
    """
    had, has = product(x.shape), product(shape)
    difference = without_factors(had - has)
    if never_zero(difference):
        return x
    fix(build, difference)
    extents = _extents_like(x.shape, has)
    if extents is not None:
        for axis, extent in enumerate(extents):
            build.require_equal(x.shape[axis], extent)
            x = build.cut(x, axis, 0, extent)
        return x
    build.require_equal(difference, 0)
    return build.cut(build.reshape(x, [had]), 0, 0, has)


def without_factors(difference: DimLike) -> DimLike:
    """A dimension that is 0 where ``difference`` is: without the factors of all terms, which are at least 1."""
    if not isinstance(difference, Dim):
        return difference
    factors = [Dim.of({(a,): 1}) for a in difference.terms[0][0] if all(a in m for m, _ in difference.terms)]
    size = gcd(*(c for _, c in difference.terms))
    return floordiv(difference, product([size, *(f for f in factors if at_least(f, 1))]))


def _extents_like(shape: Sequence[DimLike], elements: DimLike) -> tuple[DimLike, ...] | None:
    """For each of ``shape`` an extent close to it, such that the product of the extents is ``elements``."""
    near = [[d, *_multiples_near(d, elements)] for d in shape]
    return next((e for e in islice(itertools.product(*near), MOST_TRIED) if product(e) == elements), None)


def _multiples_near(extent: DimLike, elements: DimLike) -> Iterator[DimLike]:
    """Multiples of the quotients in ``elements`` that are equal or close to ``extent``: 2*(h//2) for h."""
    if not isinstance(extent, Dim) or not isinstance(elements, Dim):
        return
    quotients = {a for m, _ in elements.terms for a in m if not isinstance(a, str) and a[0] == "//"}
    size = gcd(*(c for _, c in elements.terms))
    for quotient in sorted(quotients, key=str):
        for factor in (n for n in range(1, LARGEST_FACTOR + 1) if size % n == 0):
            other = factor * Dim.of({(quotient,): 1})
            if _is_near(extent - other) and at_least(extent, other) and at_least(other + MOST_DIFFERENT, extent):
                yield other


def _is_near(difference: DimLike) -> bool:
    """Whether a difference is small at two choices of its symbols. It has to be small at all of them."""
    names = sorted(symbols_of([difference]))
    for step in (0, 1009):
        value = evaluate(difference, {name: 10_007 + step * (n + 1) for n, name in enumerate(names)})
        if not isinstance(value, int) or not 0 <= value <= MOST_DIFFERENT:
            return False
    return True
