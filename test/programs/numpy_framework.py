"""What programs use of a framework beside ``numpy``, in NumPy: loops in Python, derivatives by central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-6


def jit(f: Callable[..., Any]) -> Callable[..., Any]:
    return f


def grad(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    def gradient(*args: Any) -> Any:
        given = np.array(args[argnums], float)
        found = np.zeros_like(given)
        for at in np.ndindex(given.shape):
            ends = []
            for sign in (1, -1):
                moved = given.copy()
                moved[at] += sign * STEP
                ends.append(float(np.asarray(f(*args[:argnums], moved, *args[argnums + 1 :]))))
            found[at] = (ends[0] - ends[1]) / (2 * STEP)
        return found if found.ndim else found[()]

    return gradient


def value_and_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: (f(*args), grad(f)(*args))


def vmap(f: Callable[..., Any], in_axes: Any = 0) -> Callable[..., Any]:
    def mapped(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        size = next(np.shape(x)[a] for x, a in zip(args, axes, strict=True) if a is not None)
        rows = [
            f(*(x if a is None else np.take(x, n, a) for x, a in zip(args, axes, strict=True))) for n in range(size)
        ]
        return tuple(map(np.stack, zip(*rows, strict=True))) if isinstance(rows[0], tuple) else np.stack(rows)

    return mapped


def scan(f: Callable[..., Any], state: Any, xs: Any = None, length: int | None = None) -> Any:
    count = length if xs is None else len(xs[0]) if isinstance(xs, tuple) else len(xs)
    found = []
    for n in range(count or 0):
        x = None if xs is None else tuple(each[n] for each in xs) if isinstance(xs, tuple) else xs[n]
        state, y = f(state, x)
        found.append(y)
    if found and isinstance(found[0], tuple):
        return state, tuple(map(np.stack, zip(*found, strict=True)))
    return state, None if found[0] is None else np.stack(found)


def fori_loop(first: int, end: int, f: Callable[..., Any], state: Any) -> Any:
    for n in range(first, end):
        state = f(n, state)
    return state


def while_loop(test: Callable[..., Any], f: Callable[..., Any], state: Any) -> Any:
    while test(state):
        state = f(state)
    return state


def cond(test: Any, yes: Callable[..., Any], no: Callable[..., Any], *args: Any) -> Any:
    return yes(*args) if test else no(*args)
