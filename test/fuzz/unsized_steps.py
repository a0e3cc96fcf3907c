"""Steps on values of which only a run knows the extents: these are None. All others read sums of these alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from chosen import picked
from growing import Graph

MOVED = ("float32", "int32", "int64", "float64")
UNARY = ("Tanh", "Neg", "Abs", "Sigmoid")
ROWS = 13  # of values that are cut
Open = tuple[int | None, ...]


def unsized(g: Graph, rank: int, kinds: Sequence[str] = ("float32",)) -> str | None:
    """A value of which only a run knows an extent."""
    fits = (n for n, s in g.shapes.items() if s is not None and None in s and len(s) >= rank)
    names = [n for n in fits if g.types[n] in kinds]
    return g.random.choice(names[-3:]) if names else None


def made(g: Graph, op: str, inputs: list[str], shape: Open, kind: str = "", **how: object) -> str:
    """A node; where its result has open extents only these steps read it."""
    return g.add(op, inputs, shape, kind, last=None in shape, **how)  # type: ignore[arg-type]


def first_rows(g: Graph, names: Sequence[str]) -> list[str]:
    """Of values with ``ROWS`` rows the first ones, of all of them as many."""
    count, begin = picked(g, [[n] for n in g.random.sample(range(1, ROWS + 1), 4)]), g.constant([0])
    return [g.add("Slice", [name, begin, count, begin], g.shapes[name], last=True) for name in names]


def flat(g: Graph) -> None:
    """All elements of a value one after the other, or below each other."""
    if x := unsized(g, 1, MOVED):
        made(g, "Reshape", [x, picked(g, [[-1, 1], [1, -1]])], (None, None))


def onwards(g: Graph) -> None:
    """What keeps the extents, whatever they are."""
    if x := unsized(g, 1):
        shape = g.shapes[x]
        op = g.random.choice([*UNARY, "Softmax", "Add", "Mul"])
        how = {"axis": g.random.randrange(len(shape))} if op == "Softmax" else {}
        other = [g.random.choice([x, g.constant(np.float32(0.5))])] if op in ("Add", "Mul") else []
        y = made(g, op, [x, *other], shape, **how)
        made(g, "Tanh", [y], shape)


def turned(g: Graph) -> None:
    """Other orders of dimensions, and the product of what becomes of them."""
    if x := unsized(g, 2):
        shape = g.shapes[x]
        order = g.random.sample(range(len(shape)), len(shape))
        y = made(g, "Transpose", [x], tuple(shape[n] for n in order), perm=order)
        if len(shape) == 2 and order == [1, 0]:
            product = made(g, "MatMul", [x, y], (shape[0], shape[0]))
            made(g, "Softsign", [product], g.shapes[product])


def weighed(g: Graph) -> None:
    """Rows of a known length times a matrix."""
    if (x := unsized(g, 2)) and (length := g.shapes[x][-1]):
        shape = (*g.shapes[x][:-1], g.random.randint(1, 20))
        made(g, "Tanh", [made(g, "MatMul", [x, g.fixed((length, shape[-1]))], shape)], shape)


def joined(g: Graph) -> None:
    if x := unsized(g, 1, MOVED):
        rank = len(g.shapes[x])
        made(g, "Concat", [x, x], (None,) * rank, axis=g.random.randrange(-rank, rank))


def collected(g: Graph) -> None:
    """The sum of all elements, which any step reads; the shape."""
    if x := unsized(g, 1):
        if g.random.random() < 0.3:
            g.add("Shape", [x], (len(g.shapes[x]),), "int64")
        else:
            g.add("Softsign", [g.add("ReduceSum", [x], (), keepdims=0)], ())


UNSIZED: tuple[Callable[[Graph], None], ...] = (flat, onwards, onwards, turned, weighed, joined, collected)
