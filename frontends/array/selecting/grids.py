"""Objects that are indexed instead of called: ``mgrid``, ``ogrid``, ``r_``, ``c_``, ``s_``. Source: NumPy 2."""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.compositions.arranging import atleast_1d, column_stack
from mlc.frontends.array.functions.creation import arange, linspace
from mlc.frontends.array.functions.shaping import broadcast_to, concat, reshape, stack


class Grid:
    """The coordinates of a grid of slices ``start:stop:step``; an imaginary step is a number of points, both ends too.

    ``dense``: one array [rank, …]; else arrays that broadcast.
    """

    def __init__(self, dense: bool) -> None:
        self.dense = dense

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return line(key)
        lines = [line(each) for each in key]
        sides = [[-1 if m == n else 1 for m in range(len(lines))] for n in range(len(lines))]
        each = [reshape(x, side) for x, side in zip(lines, sides, strict=True)]
        shape = [x.shape[0] for x in lines]
        return stack([broadcast_to(x, shape) for x in each]) if self.dense else tuple(each)


def line(given: slice) -> Array:
    """The numbers of a slice."""
    start, step = (0 if given.start is None else given.start), (1 if given.step is None else given.step)
    if isinstance(step, complex):
        found: Array = linspace(start, given.stop, int(abs(step)))
        return found
    return arange(start, given.stop, step)


class Row:
    """Arrays, numbers and slices (as of ``mgrid``) one after the other; side by side as columns for ``columns``."""

    def __init__(self, columns: bool) -> None:
        self.columns = columns

    def __getitem__(self, key: Any) -> Array:
        parts = [line(x) if isinstance(x, slice) else as_array(x) for x in (key if isinstance(key, tuple) else (key,))]
        return column_stack([atleast_1d(x) for x in parts]) if self.columns else concat([atleast_1d(x) for x in parts])


class Key:
    """An object that returns the key by which it is indexed, as a tuple for ``whole``."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self.whole and not isinstance(key, tuple) else key


OBJECTS = {
    **{"mgrid": Grid(True), "ogrid": Grid(False), "r_": Row(False), "c_": Row(True)},
    **{"s_": Key(False), "index_exp": Key(True)},
}
