"""Parameters of a function that options of ``jit`` name or number."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from mlc.errors import InputError

Parameters = str | int | Sequence[str | int]
"""Parameters of a function by names or numbers."""


def several(given: Parameters) -> Sequence[str | int]:
    return (given,) if isinstance(given, str | int) else given


def parameter_named(f: Callable[..., Any], signature: inspect.Signature, option: str, parameter: str | int) -> str:
    """A parameter by name or number."""
    names = list(signature.parameters)
    if isinstance(parameter, int) and not -len(names) <= parameter < len(names):
        raise InputError(
            f"jit: {name_of(f)} has {len(names)} parameters, and {option} says number {parameter}",
            hint="Parameters count from 0",
        )
    return parameter if isinstance(parameter, str) else names[parameter]


def name_of(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", type(f).__name__).strip("<>")
