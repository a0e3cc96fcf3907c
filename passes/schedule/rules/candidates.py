"""Candidates of a schedule rule, the best by its cost model first; ``choose-schedule`` takes the first.

The other candidates are for ``mlc tune``, which measures them. A rule is a generator, so candidates that are not used
cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

from mlc.dialects.poly import LoopNest
from mlc.passes.schedule.polyhedral.dependences import components
from mlc.passes.schedule.polyhedral.statement_view import StatementView
from mlc.target import Target

T = TypeVar("T")
Rule = Callable[[Sequence[StatementView], Any], Iterator[LoopNest]]
"""A function that yields candidates for one nest of all given statements, for a target; none if the rule does not
apply."""


def by_rank(*choices: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield combinations of one element from each ranked list, without repetition, ordered by the sum of their
    ranks."""
    lists = [iter(choice) for choice in choices]
    first = tuple(map(next, lists))
    yield first
    ranked = [list(enumerate(dict.fromkeys((best, *rest)))) for best, rest in zip(first, lists, strict=True)]
    _, *others = sorted(product(*ranked), key=lambda c: sum(rank for rank, _ in c))
    yield from (tuple(value for _, value in combination) for combination in others)


def first_of(choices: Iterable[Iterator[T]]) -> Iterator[T]:
    """Yield the elements of the first iterator that is not empty; later iterators are not evaluated."""
    for choice in choices:
        for first in choice:
            yield first
            yield from choice
            return


def candidates(statements: Sequence[StatementView], target: Target, rules: Sequence[Rule]) -> Iterator[LoopNest]:
    """Return the candidates of the first rule that has any. All statements of a nest must have the same extent for an
    iterator."""
    bounds = {(i, s.bounds[i]) for s in statements for i in s.iters}
    one_extent = len(bounds) == len({name for name, _ in bounds})
    return first_of(rule(statements, target) for rule in rules if one_extent)


def merged(statements: Sequence[StatementView], target: Target, rules: Sequence[Rule]) -> list[list[StatementView]]:
    """Return the components of ``statements``, where neighbours to which one rule applies together, such as both
    borders of a padding, are merged.

    Statements of a nest keep their order, in which components may alternate (S0 → S2 beside S1).
    """
    out: list[list[StatementView]] = []
    for part in components(statements):
        both = [s for s in statements if out and (s in out[-1] or s in part)]
        if both and any(candidates(both, target, rules)):
            out[-1] = both
        else:
            out.append(part)
    return out
