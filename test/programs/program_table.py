"""The table of programs: each with a function, its parameters and their values."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

Program = Callable[..., Any]
PROGRAMS: dict[str, tuple[Program, dict[str, Any]]] = {}
"""By name: a function of (numpy, framework, generator of random numbers) and its parameters."""


def program(**values: list[Any]) -> Callable[[Program], Program]:
    """A decorator: a program for each combination of the values of its parameters."""

    def add(f: Program) -> Program:
        for chosen in itertools.product(*values.values()):
            given = dict(zip(values, chosen, strict=True))
            PROGRAMS["-".join([f.__name__, *map(str, chosen)])] = (f, given)
        return f

    return add
