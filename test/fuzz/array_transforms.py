"""Batches and derivatives of a random program on arrays: against its rows one by one, and against differences.

Source of the test of derivatives: central differences in float64; elements where the two one-sided ones disagree, at
kinks and steps of a function, are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

import mlc
import mlc.numpy as mnp

Array = np.ndarray[Any, Any]
ROOTS = ("sqrt", "cbrt", "std", "nanstd", "hypot")
"""Functions whose derivative is infinite, or has no one value, where they are 0: as JAX's it may be NaN."""


class Program(Protocol):
    """A function of a module such as NumPy and two arrays; ``values`` are the results of its steps, whose second field
    is the name of a function."""

    steps: list[Any]

    def __call__(self, np: Any, x: Any, y: Any) -> Any: ...

    def values(self, np: Any, x: Any, y: Any) -> Iterator[Any]: ...


STEP, AGREE, CLOSE = 1e-5, 1e-3, 1e-4


def batched(program: Program, inputs: list[Array], differs: Callable[[Array, Array], bool]) -> str:
    """What is wrong with ``mlc.vmap`` of a program over two rows; empty where nothing is."""
    pairs = [np.stack([x, np.roll(x, 1)]) for x in inputs]
    found = np.asarray(mlc.vmap(lambda *xs: program(mnp, *xs))(*map(mnp.asarray, pairs)))
    for n in range(2):
        wanted = np.asarray(program(mnp, *(mnp.asarray(pair[n]) for pair in pairs)))
        if differs(found[n], wanted):
            return f"row {n} of a batch is {found[n]!r}\n  alone it is {wanted!r}"
    return ""


def derivative(program: Program, inputs: list[Array], rng: np.random.Generator) -> str:
    """What is wrong with the gradient of a program by its first input, at normal numbers; empty where nothing is."""
    x, y = (rng.standard_normal(each.shape) * 1.5 for each in inputs)
    values = [np.asarray(each) for each in program.values(mnp, mnp.asarray(x), mnp.asarray(y))]
    result = values[-1]
    if result.dtype.kind != "f" or not x.size or not all(np.isfinite(each).all() for each in values):
        return ""  # 0 times the derivative of what is NaN is NaN, as in other frameworks
    if any(step[1] in ROOTS and not value.all() for step, value in zip(program.steps, values, strict=True)):
        return ""
    weights = rng.standard_normal(result.shape)
    value = lambda x: mnp.sum(program(mnp, x, mnp.asarray(y)) * weights)  # noqa: E731
    gradient = np.asarray(mlc.grad(value)(mnp.asarray(x)))
    tangent = rng.standard_normal(x.shape)
    forward = float(np.asarray(mlc.jvp(value, (mnp.asarray(x),), (mnp.asarray(tangent),))[1]))
    if not np.isclose(forward, (gradient * tangent).sum(), rtol=CLOSE, atol=CLOSE):
        return f"forward {forward} and reverse {(gradient * tangent).sum()} at {x!r}, {y!r}"
    at = [float(np.asarray(value(mnp.asarray(x + k * STEP * tangent)))) for k in (-1, 0, 1)]
    before, after = (at[1] - at[0]) / STEP, (at[2] - at[1]) / STEP
    if not np.isfinite(before + after) or abs(after - before) > AGREE * (1 + abs(before)):
        return ""
    right = (before + after) / 2
    if not np.isclose(forward, right, rtol=AGREE, atol=AGREE):
        return f"derivative {forward} where differences say {right} at {x!r}, {y!r} along {tangent!r}"
    return ""
