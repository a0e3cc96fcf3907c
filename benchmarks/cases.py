"""The models that correctness and comparison run over, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import models
from benchmarks.models import light, minilm

SYMBOLIC = tuple({"batch": size} for size in (1, 3, 17))
STATIC: tuple[dict[str, int], ...] = ({},)


@dataclass(frozen=True)
class Case:
    """A model file, made when it is used, and the sizes of its symbolic dimensions to run it at."""

    name: str
    file: Callable[[], Path]
    dims: tuple[dict[str, int], ...] = STATIC


def _family(name: str) -> Case:
    return Case(name, lambda: models.path(name))


def _symbolic(name: str) -> Case:
    return Case(f"{name}@batch", lambda: models.path(name, batch="batch"), SYMBOLIC)


def _light(name: str, seed: int | None) -> Case:
    return Case(name if seed is None else f"{name}+random", lambda: light.path(name, seed))


def all_cases() -> dict[str, Case]:
    """Every family at its own batch and at a symbolic one, the light models as they are and randomized, MiniLM,
    and last the single operators."""
    cases = [make(name) for make in (_family, _symbolic) for name in models.FAMILIES]
    cases += [_light(name, seed) for seed in (None, 0) for name in light.names()]
    cases.append(Case("minilm", minilm.path, SYMBOLIC))
    cases += [_family(name) for name in models.OPERATORS]
    return {case.name: case for case in cases}


def select(patterns: Sequence[str]) -> list[Case]:
    """The cases that are named, those whose name starts with a pattern `abc*`; without patterns all whole models.

    Raises ValueError where a pattern fits nothing.
    """
    cases = all_cases()
    if not patterns:
        return [case for name, case in cases.items() if name not in models.OPERATORS]
    chosen: dict[str, Case] = {}
    for pattern in patterns:
        found = {name: case for name, case in cases.items() if _fits(name, pattern)}
        if not found:
            raise ValueError(f"no model {pattern!r}; there are: {', '.join(cases)}")
        chosen |= found
    return list(chosen.values())


def _fits(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
