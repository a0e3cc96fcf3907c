"""What ``mlc.jit(shardings=…)`` takes in place of shardings: a search for a plan, or a plan as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mlc.errors import InputError
from mlc.planning.cluster import Cluster


@dataclass(frozen=True)
class Plan:
    """A plan as text, as ``mlc plan --auto`` prints it; it may be edited."""

    text: str


@dataclass(frozen=True)
class Auto:
    """A search. ``memory``: bytes that a rank may hold; ``fixed``: shardings of parameters, which the search keeps;
    ``seconds``: what the solver may take; ``solver``: "auto", "ilp" (HiGHS) or "descent" (without one); ``given``:
    lines of a plan that the search keeps; ``updates``: parameters that are one array each, which results of their types
    replace (trees of arrays need no naming)."""

    memory: float | None = None
    cluster: Cluster | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict, hash=False)
    seconds: float = 20.0
    solver: Literal["auto", "ilp", "descent"] = "auto"
    given: str = ""
    updates: tuple[str, ...] = ()


def how_of(shardings: Any) -> Auto | Plan | None:
    """Return the search or the plan that ``mlc.jit(shardings=…)`` was given; None for shardings.

    Raises:
        InputError: another text than "auto".
    """
    if isinstance(shardings, Auto | Plan):
        return shardings
    if isinstance(shardings, str):
        if shardings != "auto":
            raise InputError(f"jit: shardings are '{shardings}'", hint="Give 'auto', planning.Plan(text), or P by name")
        return Auto()
    if not isinstance(shardings, Mapping):
        raise InputError(f"jit: shardings are a {type(shardings).__name__}", hint='Give {"x": P("data")}, or "auto"')
    return None
