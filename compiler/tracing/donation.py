"""Donation: arguments that a compiled function may overwrite, so that its results take over their memory.

A donated argument is given away by the call (JAX: ``donate_argnums``). Which result has its memory is part of the
program: an input-output alias. What an array holds is only overwritten if nobody else can see it.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.record import Record, where_called
from mlc.runtime.memory import Lease

Data = np.ndarray[Any, Any]
Path = tuple[Any, ...]
Aliases = tuple[tuple[int, int], ...]
"""(result, argument) of each pair that shares memory, as numbers of leaves."""


def matched(
    donated: Sequence[int], arguments: Sequence[tuple[Path, Record]], results: Sequence[tuple[Path, Record]]
) -> Aliases:
    """A donated argument for each result of equal element type and shape, while there are any: of several the one whose
    path ends like that of the result (``opt.m.w`` for ``1.m.w``), then the first.
    """
    free: dict[Any, list[int]] = defaultdict(list)
    for n in donated:
        record = arguments[n][1]
        free[record.element, tuple(record.shape)].append(n)
    found = []
    for k, (path, record) in enumerate(results):
        if same := free[record.element, tuple(record.shape)]:
            best = max(same, key=lambda n: (_common_end(arguments[n][0], path), -n))
            same.remove(best)
            found.append((k, best))
    return tuple(found)


def _common_end(a: Path, b: Path) -> int:
    """The number of equal entries at the end of two paths."""
    count = 0
    for x, y in zip(reversed(a), reversed(b), strict=False):
        if x != y:
            break
        count += 1
    return count


def check_distinct(donated: Sequence[Any], arguments: Sequence[Any]) -> None:
    """Raise InputError where an array is given twice and is donated once."""
    times = Counter(id(x) for x in arguments if isinstance(x, Array))
    if any(times[id(x)] > 1 for x in donated if isinstance(x, Array)):
        raise InputError(f"{where_called()}: an array that is donated is given twice", hint="Make one of them a copy")


def given_away(x: Array, name: str, to: str) -> Data:
    """The elements of a donated argument, which nobody else can see: afterwards ``x`` has none.

    Raises:
        InputError: a NumPy array or another array shares its memory.
    """
    x.numpy()  # evaluates it
    if not _is_alone(x):
        what = f"{where_called()}: argument '{name}' cannot be donated: another array, or NumPy's, has its memory"
        raise InputError(what, hint="Delete that array or make it a copy, or donate a copy")
    value = x.value
    assert value is not None
    if _references_of_record(x) != _ONE_RECORD:  # arrays that are not evaluated yet may need it
        x.record.data = value.copy()
    x.give_away(to)
    return value


def _is_alone(x: Array) -> bool:
    """Whether only ``x`` refers to its NumPy array, and to the arrays of which that is a view."""
    if _references(x) != _ONE:
        return False
    view = x.value
    while view is not None and view.base is not None:
        if _references_of_base(view) != _ONE_BASE:
            return False
        if not isinstance(view.base, np.ndarray):
            return isinstance(view.base, Lease)
        view = view.base
    return True


def _references(x: Array) -> int:
    """The references to an array's elements; its record has one, unless it says how they were computed."""
    recorded = x.record.data is x.value
    return sys.getrefcount(x.value) - recorded


def _references_of_record(x: Array) -> int:
    return sys.getrefcount(x.record)


def _references_of_base(view: Data) -> int:
    return sys.getrefcount(view.base)


_ONE = _references(Array.of(np.zeros(1)))
_ONE_RECORD = _references_of_record(Array.of(np.zeros(1)))
_ONE_BASE = _references_of_base(np.zeros(2)[:1])
"""What Python counts where there is one reference."""
