"""States as small integers, so that arrays of NumPy hold those of all options at once.

    d ≥ 0: split d      -1: whole      -2: partial add      below: partial by another monoid      from 100 on: windows

A *joint* state has a code for each mesh axis.
"""

from __future__ import annotations

from typing import Any

from mlc.dialects.dist import PartialAttr, SplitAttr, State, WindowAttr
from mlc.dialects.dist.states import WHOLE

Joint = tuple[int, ...]
ALL = -1
SUM = -2
WINDOWS = 100
_PARTIALS = [PartialAttr.of("add")]
_WINDOWS: list[WindowAttr] = []


def code_of(state: State) -> int:
    """Return the code of a state; the same state has the same code in the whole process."""
    match state:
        case SplitAttr():
            return state.dim
        case PartialAttr():
            return SUM - _index(_PARTIALS, state)
        case WindowAttr():
            return WINDOWS + _index(_WINDOWS, state)
    return ALL


def state_of(code: int) -> State:
    """Return the state of a code."""
    if code >= WINDOWS:
        return _WINDOWS[code - WINDOWS]
    return SplitAttr.of(code) if code >= 0 else WHOLE if code == ALL else _PARTIALS[SUM - code]


def window_of(code: int) -> WindowAttr | None:
    return _WINDOWS[code - WINDOWS] if code >= WINDOWS else None


def divided(code: int) -> int | None:
    """Return the dimension that a state divides."""
    if code >= WINDOWS:
        return _WINDOWS[code - WINDOWS].dim
    return code if code >= 0 else None


def _index(known: list[Any], state: State) -> int:
    if state not in known:
        known.append(state)
    return known.index(state)
