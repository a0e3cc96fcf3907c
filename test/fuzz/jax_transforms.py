"""Transforms of functions that JAX has under the same name, on random and edge values: what of them differs from JAX.

Compared are the derivative along a tangent, the cotangent, the second derivative (forward over reverse), and each of a
batch. Every one of them is a function of one tree of arrays, so a compiled program may compute all at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jax_calls import Array, Call

import mlc
import mlc.numpy

TRANSFORMS = ("value", "jvp", "vjp", "second", "vmap", "vmap of jvp", "vmap of vjp")
Function = Callable[..., Any]


class Sides(NamedTuple):
    """What a transform needs of a library."""

    grad: Any
    jvp: Any
    vmap: Any
    numpy: Any


OURS = Sides(mlc.grad, mlc.jvp, mlc.vmap, mlc.numpy)
THEIRS = Sides(jax.grad, jax.jvp, jax.vmap, jax.numpy)


def by_floats(call: Call, function: Function) -> tuple[Function, list[Array]]:
    """``function`` of the arrays of floats among its arguments alone, and these arrays."""
    floats = [n for n, x in enumerate(call.args) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]

    def of(*xs: Any) -> Any:
        given = list(call.args)
        for n, x in zip(floats, xs, strict=True):
            given[n] = x
        return function(*given, **call.options)

    return of, [call.args[n] for n in floats]


def results(value: Any, lib: Sides) -> list[Any]:
    """The results that have derivatives; a complex one as its parts."""
    if isinstance(value, tuple | list):
        return [leaf for each in value for leaf in results(each, lib)]
    kind = np.dtype(value.dtype).kind if hasattr(value, "dtype") else ""
    if kind == "c":
        return [lib.numpy.real(value), lib.numpy.imag(value)]
    return [value] if kind == "f" or str(getattr(value, "dtype", "")) == "bfloat16" else []


def transforms(f: Function, lib: Sides, count: int, seed: int) -> dict[str, Function]:
    """The function of each transform, of arrays and tangents. Cotangents are drawn by the seed for each shape."""

    def weighed(*xs: Any) -> Any:
        return sum(lib.numpy.sum(y * weights(y.shape, str(y.dtype), seed)) for y in results(f(*xs), lib))

    n = tuple(range(count))
    gradient = lib.grad(weighed, argnums=n)
    tangent = lambda xs, ts: results(lib.jvp(lambda *a: results(f(*a), lib), xs, ts)[1], lib)  # noqa: E731
    return {
        "value": lambda xs, ts: results(f(*xs), lib),
        "jvp": tangent,
        "vjp": lambda xs, ts: list(gradient(*xs)),
        "second": lambda xs, ts: list(lib.jvp(gradient, xs, ts)[1]),
        "vmap": lambda xs, ts: lib.vmap(lambda xs, ts: results(f(*xs), lib))(_pair(lib, xs), _pair(lib, ts)),
        "vmap of jvp": lambda xs, ts: lib.vmap(tangent)(_pair(lib, xs), _pair(lib, ts)),
        "vmap of vjp": lambda xs, ts: lib.vmap(lambda xs, ts: list(gradient(*xs)))(_pair(lib, xs), _pair(lib, ts)),
    }


def _pair(lib: Sides, xs: tuple[Any, ...]) -> tuple[Any, ...]:
    """A batch of two: each array, and its elements in reverse order."""
    return tuple(lib.numpy.stack([x, lib.numpy.flip(x)]) for x in xs)


def weights(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Numbers from 0.5 to 2, exact in every type, so that no cotangent is 0."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice([0.5, 1.0, 1.5, 2.0], shape)
    return np.asarray(chosen).astype(dtype if dtype.startswith("float") else "float32")
