"""Calls of functions that JAX has under the same name: operands on edge values, and each keyword argument.

A name is one of ``numpy``, ``nn`` and ``scipy`` with a dot before the function. ``FAMILIES`` groups names whose
operands are drawn alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Rng = np.random.Generator
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
ANY = ("bool", *INTEGERS, *FLOATS)
EDGES = (0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2.5, 3, 3, np.inf, -np.inf, np.nan, 1e-40, 1e-7, 7.25, -30, 100, 1e30)


class Call(NamedTuple):
    """``name(*args, **options)``, where arrays are NumPy's."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    def __str__(self) -> str:
        given = [
            f"{x.dtype}{list(x.shape)}{x.ravel().tolist()}" if isinstance(x, np.ndarray) else repr(x) for x in self.args
        ]
        return f"{self.name}({', '.join([*given, *(f'{k}={v!r}' for k, v in self.options.items())])})"


Draw = Callable[[Rng], tuple[tuple[Any, ...], dict[str, Any]]]


def np_dtype(name: str) -> Any:
    if name != "bfloat16":
        return np.dtype(name)
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


def drawn(rng: Rng, shape: Sequence[int], names: Sequence[str] = ANY) -> Array:
    """Edge values of a type out of ``names``, of which several are equal."""
    dtype = np_dtype(str(rng.choice(names)))
    if dtype.kind == "b":
        return rng.integers(0, 2, tuple(shape)).astype(bool)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return rng.choice(np.array([0, 1, 2, 3, 3, 7, ends.max, ends.min, ends.max - 1], dtype=dtype), tuple(shape))
    with np.errstate(all="ignore"):
        return rng.choice(np.array(EDGES, np.float64), tuple(shape)).astype(dtype)


def normal(rng: Rng, shape: Sequence[int], names: Sequence[str] = ("float32", "float64")) -> Array:
    return np.asarray(rng.standard_normal(tuple(shape)) * 2).astype(np_dtype(str(rng.choice(names))))


def shape(rng: Rng, least: int = 0) -> tuple[int, ...]:
    """Of up to three dimensions, one in eight of them without elements."""
    return tuple(
        int(n) for n in rng.choice([1, 2, 3, 5, 0], int(rng.integers(least, 4)), p=[0.2, 0.28, 0.24, 0.24, 0.04])
    )


def axis_of(rng: Rng, rank: int, several: bool = False) -> Any:
    """None, an axis of either sign, or several of them."""
    if not rank or rng.random() < 0.2:
        return None
    if several and rng.random() < 0.3:
        chosen = rng.permutation(rank)[: int(rng.integers(1, rank + 1))]
        return tuple(int(a) - rank * int(rng.integers(0, 2)) for a in chosen)
    return int(rng.integers(-rank, rank))


def some(rng: Rng, **options: Any) -> dict[str, Any]:
    """Each option with one chance in three."""
    return {key: value for key, value in options.items() if rng.random() < 1 / 3}


def unary(names: Sequence[str] = ANY) -> Draw:
    return lambda rng: ((drawn(rng, shape(rng), names),), {})


def beside(rng: Rng, x: Array, names: Sequence[str]) -> Any:
    """A Python number or an array that broadcasts with ``x``."""
    if rng.random() < 0.2:
        kinds: list[Any] = [2, 0, -3] if names is INTEGERS else [2, 0.5, -1.5, 0, True, float("inf")]
        return kinds[int(rng.integers(len(kinds)))]
    cut = int(rng.integers(0, x.ndim + 1))
    return drawn(rng, [1 if rng.random() < 0.3 else n for n in x.shape[cut:]], names)


def binary(names: Sequence[str] = ANY, second: Sequence[str] | None = None) -> Draw:
    def draw(rng: Rng) -> Any:
        x = drawn(rng, shape(rng), names)
        return (x, beside(rng, x, second or names)), {}

    return draw


def ternary(names: Sequence[str] = ANY) -> Draw:
    def draw(rng: Rng) -> Any:
        x = drawn(rng, shape(rng), names)
        return (x, beside(rng, x, names), beside(rng, x, names)), {}

    return draw


def reduction(*keys: str, several: bool = True, names: Sequence[str] = ANY) -> Draw:
    """``keys`` are the options beside an axis."""

    def draw(rng: Rng) -> Any:
        x = drawn(rng, shape(rng), names)
        axis = axis_of(rng, x.ndim, several)
        options = {"where": rng.random(x.shape) < 0.6, "keepdims": True, "initial": int(rng.integers(0, 3)), "ddof": 1}
        options |= {"dtype": str(rng.choice(["float32", "float64", "int32"])), "correction": 1, "axis": axis}
        return (x,), some(rng, **{key: options[key] for key in keys}) | some(rng, axis=axis) | {"axis": axis}

    return draw


def along(*keys: str, names: Sequence[str] = ANY, least: int = 1) -> Draw:
    """A function along one axis."""

    def draw(rng: Rng) -> Any:
        x = drawn(rng, shape(rng, least), names)
        options = {"descending": True, "stable": True, "dtype": "float64", "include_initial": True, "n": 2}
        options |= {"axis": int(rng.integers(-x.ndim, x.ndim)) if x.ndim else 0, "keepdims": True}
        options["where"] = rng.random(x.shape) < 0.6
        return (x,), some(rng, **{key: options[key] for key in keys})

    return draw


def quantile(factor: float) -> Draw:
    def draw(rng: Rng) -> Any:
        x = drawn(rng, shape(rng), FLOATS + INTEGERS) if rng.random() < 0.5 else normal(rng, shape(rng))
        q = rng.choice([0.0, 0.25, 0.5, 0.9, 1.0], tuple(rng.choice([2, 3], int(rng.integers(0, 2))))) * factor
        method = str(rng.choice(["linear", "lower", "higher", "midpoint", "nearest"]))
        options = {"axis": axis_of(rng, x.ndim, True), "keepdims": True, "method": method}
        return (x, q.astype(np.float32)), some(rng, **options)

    return draw


def square(names: Sequence[str] = ("float32", "float64"), positive: bool = False, right: bool = False) -> Draw:
    """Matrices that are well conditioned."""

    def draw(rng: Rng) -> Any:
        n, batch = int(rng.integers(1, 5)), tuple(rng.choice([1, 2, 3], int(rng.integers(0, 2))))
        dtype = str(rng.choice(names))
        x = rng.standard_normal((*batch, n, n)) + 3 * np.eye(n)
        x = x @ np.swapaxes(x, -1, -2) if positive else x
        y = rng.standard_normal((*batch, n, 2))
        return ((x.astype(dtype), y.astype(dtype)) if right else (x.astype(dtype),)), {}

    return draw
