"""Run-time scalars: integers that are an input, or computed from data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from growing import Graph, drawn
from onnx import TensorProto

Row = Any  # a number, or a list of some


def rows(g: Graph, make: Callable[[], Row]) -> list[Row]:
    """A few of what ``make`` gives."""
    return [make() for _ in range(g.random.randint(2, 4))]


def picked(g: Graph, choices: Sequence[Row], kind: str = "int64") -> str:
    """One of some numbers or lists, known at run time: an input, a row of a table, or element by element."""
    array = np.array(choices, kind)
    how = g.random.choice(["input", "table", "parts"])
    if how == "input":
        return g.given(array)
    at = place(g, len(array))
    if how == "table" or array.ndim < 2 or array.shape[1] < 2:
        return g.add("Gather", [g.constant(array), at], array.shape[1:], kind, last=True)
    parts = [_column(g, column, at) for column in array.T[..., None]]
    return g.add("Concat", parts, (len(parts),), kind, axis=0, last=True)


def _column(g: Graph, column: Any, at: str) -> str:
    """One element of the rows: a constant where it is the same in all of them."""
    if (column == column[0]).all():
        return g.constant(column[0])
    return g.add("Gather", [g.constant(column), at], (1,), column.dtype.name, last=True)


def place(g: Graph, count: int) -> str:
    """A number from 0 to ``count`` - 1: an input, or what is found out about one."""
    how = g.random.choice(["given", "largest", "sum", "found"])
    if how == "given":
        return g.given(np.arange(count))
    x = g.given(drawn(g.numpy(), (4, count if how == "largest" else 5), "int32" if how == "found" else "float32"))
    if how == "largest":
        return g.add("ArgMax", [x], (), "int64", axis=0, keepdims=0, last=True)
    if how == "found":
        found = g.add("NonZero", [x], (1, None), "int64", last=True)  # type: ignore[arg-type]
        number = g.add("Size", [found], (), "int64", last=True)
    else:
        whole = g.add("Cast", [x], (5,), "int64", to=TensorProto.INT64, last=True)
        number = g.add("ReduceSum", [whole], (), keepdims=0, last=True)
    return g.add("Mod", [number, g.constant(np.int64(count))], (), last=True)
