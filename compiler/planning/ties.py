"""Ties: operators of equal layers get one choice, so a model of many layers is a problem of one.

A program of layers repeats: operator n and operator n + p are alike, and read values that are equally far back. Runs of
such repetition are found from the text of the program, without names: the operators of a run at the same place in a
period are one class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from xdsl.ir import Operation, SSAValue

LONGEST = 64  # periods that are tried
LEAST = 4  # operators of a period


def classes_of(ops: Sequence[Operation]) -> list[int]:
    """Return a class for each operator; one that repeats nothing has its own."""
    keys = _keys(ops)
    found = list(range(len(ops)))
    free = [True] * len(ops)
    runs = sorted(_runs(keys), key=lambda run: (run[1] - run[0], -run[2]), reverse=True)
    for first, end, period in runs:
        whole = first + (end - first) // period * period
        if end - first >= 2 * period and all(free[first:whole]):
            for n in range(first, whole):
                found[n] = found[first + (n - first) % period]
                free[n] = False
    return found


def _keys(ops: Sequence[Operation]) -> list[int]:
    """Return a number for each operator: equal for what is alike and reads values equally far back; an argument, and a
    value from far back, count by their type."""
    place: dict[SSAValue, int] = {x: n for n, op in enumerate(ops) for x in op.results}
    numbers: dict[Hashable, int] = {}
    found = []
    for n, op in enumerate(ops):
        properties = tuple(sorted((name, str(value)) for name, value in op.properties.items()))
        key = op.name, properties, tuple(op.result_types), tuple(_read(x, n, place) for x in op.operands)
        found.append(numbers.setdefault(key if not op.regions else n, len(numbers)))
    return found


def _read(x: SSAValue, n: int, place: dict[SSAValue, int]) -> Hashable:
    return x.type if x not in place else (x.type, min(n - place[x], LEAST))


def _runs(keys: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return (first, end, period) of the maximal runs of each likely period."""
    last: dict[int, int] = {}
    steps: Counter[int] = Counter()
    for n, key in enumerate(keys):
        if key in last:
            steps[n - last[key]] += 1
        last[key] = n
    found = []
    for period, _ in steps.most_common(LONGEST):
        if period < LEAST:
            continue
        first = 0
        while first + period < len(keys):
            end = first
            while end + period < len(keys) and keys[end] == keys[end + period]:
                end += 1
            if end - first >= period:
                found.append((first, end + period, period))
            first = max(end, first) + 1
    return found
