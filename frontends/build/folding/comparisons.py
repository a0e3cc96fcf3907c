"""Comparisons, minima and maxima of dimensions, decided where the bounds of their symbols allow.

Dimensions of inputs are at least 1 there; what is right only because of that is recorded (``relied_on``), and guarded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeGuard

from mlc.dialects.graph.loop import local_symbols
from mlc.dialects.semantics.dims import Dim, DimLike, dim_max, dim_min
from mlc.frontends.build.folding.prove import implied, lower_bound, never_negative

_relied: ContextVar[list[Dim]] = ContextVar("relied")


def at_least(lhs: DimLike, rhs: DimLike) -> bool | None:
    """Whether lhs >= rhs at all sizes; None where the answer depends on the sizes."""
    difference = lhs - rhs
    low, negated = lower_bound(difference), lower_bound(-difference)
    if low is not None and low >= 0 or negated is not None and negated > 0:
        return low is not None and low >= 0
    if never_negative(difference):
        return True
    return False if never_negative(-difference - 1) else None


@contextmanager
def relied_on() -> Iterator[list[Dim]]:
    """Inside, what minima, maxima and comparisons take to be at least 0 only because no input is empty."""
    found: list[Dim] = []
    token = _relied.set(found)
    try:
        yield found
    finally:
        _relied.reset(token)


def surely(lhs: DimLike, rhs: DimLike) -> bool:
    """Whether lhs >= rhs, for a value that is right only then: for empty inputs too, or a guard excludes them."""
    if not at_least(lhs, rhs):
        return False
    _rely(lhs - rhs)
    return True


def _rely(value: DimLike) -> None:
    """Record that a result is right only where ``value`` is at least 0. So far that is proved for nonempty inputs."""
    relied = _relied.get(None)
    if relied is not None and needs_nonempty(value):
        relied.append(value)


def needs_nonempty(value: DimLike) -> TypeGuard[Dim]:
    """Whether ``value`` is at least 0 only because the dimensions of inputs are at least 1, as ``n-1`` is."""
    if isinstance(value, int):
        return False
    low = lower_bound(value, 0)
    if low is not None and low >= 0 or local_symbols([value]) or not at_least(value, 0):
        return False
    return not implied(value, ())


def smaller(lhs: DimLike, rhs: DimLike) -> DimLike:
    """The minimum, decided where the bounds of the symbols allow."""
    return _minimum(lhs, rhs, surely)


def larger(lhs: DimLike, rhs: DimLike) -> DimLike:
    """The maximum, decided where the bounds of the symbols allow."""
    return _maximum(lhs, rhs, surely)


def bound_min(lhs: DimLike, rhs: DimLike) -> DimLike:
    """The minimum of two bounds of an index: as ``smaller``, but where inputs are empty no index has a value."""
    return _minimum(lhs, rhs, at_least)


def bound_max(lhs: DimLike, rhs: DimLike) -> DimLike:
    """The maximum of two bounds of an index: as ``larger``, but where inputs are empty no index has a value."""
    return _maximum(lhs, rhs, at_least)


def _minimum(lhs: DimLike, rhs: DimLike, holds: Callable[[DimLike, DimLike], bool | None]) -> DimLike:
    if holds(lhs, rhs):
        return rhs
    return lhs if holds(rhs, lhs) else dim_min(lhs, rhs)


def _maximum(lhs: DimLike, rhs: DimLike, holds: Callable[[DimLike, DimLike], bool | None]) -> DimLike:
    if holds(lhs, rhs):
        return lhs
    return rhs if holds(rhs, lhs) else dim_max(lhs, rhs)
