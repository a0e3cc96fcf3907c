"""What a schedule rule answers with: candidates, the best by its cost model first; ``choose-schedule`` takes that one.

The others are for ``mlc tune``, which measures them. A rule generates them, so that nobody pays for what is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

from mlc.passes.schedule.dependences import components
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Nest
from mlc.passes.schedule.view import StatementView

T = TypeVar("T")
Rule = Callable[[Sequence[StatementView], Machine], Iterator[Nest]]
"""Candidates for one nest of all these statements; none where the rule does not apply."""


def by_rank(*choices: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """One of each of some ranked lists, without repetitions: those that depart least from all the firsts come first."""
    lists = [iter(choice) for choice in choices]
    first = tuple(map(next, lists))
    yield first
    ranked = [list(enumerate(dict.fromkeys((best, *rest)))) for best, rest in zip(first, lists, strict=True)]
    _, *others = sorted(product(*ranked), key=lambda c: sum(rank for rank, _ in c))
    yield from (tuple(value for _, value in combination) for combination in others)


def first_of(choices: Iterable[Iterator[T]]) -> Iterator[T]:
    """What the first that is not empty yields; those after it are not asked."""
    for choice in choices:
        for first in choice:
            yield first
            yield from choice
            return


def candidates(statements: Sequence[StatementView], machine: Machine, rules: Sequence[Rule]) -> Iterator[Nest]:
    """Those of the first rule that has any; a nest has one extent an iterator."""
    bounds = {(i, s.bounds[i]) for s in statements for i in s.iters}
    one_extent = len(bounds) == len({name for name, _ in bounds})
    return first_of(rule(statements, machine) for rule in rules if one_extent)


def merged(statements: Sequence[StatementView], machine: Machine, rules: Sequence[Rule]) -> list[list[StatementView]]:
    """The components of ``statements``; neighbours that one rule takes, as the two ends of a padding, go into one nest.

    In a nest they keep their order, which components may share out alternately (S0 → S2 beside S1).
    """
    out: list[list[StatementView]] = []
    for part in components(statements):
        both = [s for s in statements if out and (s in out[-1] or s in part)]
        if both and any(candidates(both, machine, rules)):
            out[-1] = both
        else:
            out.append(part)
    return out
