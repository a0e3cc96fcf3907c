"""The first call of a jitted function, which is interpreted, and the compiled one: the same bits, or close ones where
docs/numerics.md says so. Over all scalar functions on edges and random numbers, reductions, movements and products."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.dialects.semantics.expr import COMPARISONS, FUNCTIONS, REAL
from mlc.frontends.array.functions.elementwise import apply_map

INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 0.5, 2.5, 3.0, -7.5, 1e-30, 1e30, 3.4e38, 1e-44, 1e-45, INF, -INF, NAN]
CLOSE = {*REAL - {"sqrt", "rsqrt", "isnan"}, "pow"}
NOT_OF_FLOATS = {"dot4", "dot2", "dot2x2", "dot2_i16", "add2", "sum2", "shl", "shr", "and_", "or_", "xor", "not_"}
FLOATS = tuple(sorted(set(FUNCTIONS) - CLOSE - NOT_OF_FLOATS - {"where", "rsqrt"}))
WHOLE = (
    *("add", "sub", "mul", "div", "floordiv", "mod", "fmod", "max", "min", "pow", "and_", "or_", "xor", "not_"),
    *("neg", "abs", "sign", *COMPARISONS),
)
HALVES = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def drawn(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng()
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        few = [ends.min, ends.max, 0, 1, 2, 7, ends.max - 1, ends.min + 1, max(ends.min, -1)]
        pairs = np.array(list(itertools.product(few, few)), dtype)
        more = random.integers(ends.min, ends.max, 200, dtype, True), random.integers(max(ends.min, -9), 9, 200)
    else:
        pairs = np.array(list(itertools.product(EDGES, EDGES))).astype(dtype)
        more = random.normal(size=200) * 10.0 ** random.integers(-6, 6, 200), random.normal(size=200) * 3
    return tuple(np.concatenate([pairs[:, n], more[n].astype(dtype)]) for n in range(2))  # type: ignore[return-value]


def text(fn: str) -> str:
    return f"{fn}({', '.join(f'x{n}' for n in range(FUNCTIONS[fn]))})"


def twice(f: Callable[..., Any], *given: Any) -> list[list[np.ndarray]]:
    """The results of the first call, interpreted, and of the compiled function."""
    interpreted = mlc.jit(f)
    first = [np.asarray(y) for y in interpreted(*given)]
    return [first, [np.asarray(y) for y in mlc.jit(f, wait=True)(*given)]]


def functions(names: tuple[str, ...], dtype: np.dtype) -> list[list[np.ndarray]]:
    f = lambda a, b: [apply_map(text(fn), *(a, b)[: FUNCTIONS[fn]]) for fn in names]  # noqa: E731
    return twice(f, *drawn(dtype))


def same(first: np.ndarray, later: np.ndarray, what: str = "", zeros: bool = True) -> None:
    assert (first.dtype, first.shape) == (later.dtype, later.shape), what
    a, b = (np.ascontiguousarray(x).view(f"u{x.itemsize}") for x in (first, later))
    other = (a != b) & ~((first != first) & (later != later))
    other &= np.array(zeros) | (first != 0) | (later != 0)
    assert not other.any(), f"{what}: {first[other][:3]} and then {later[other][:3]}"


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16"])
def test_functions_of_floats(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    for fn, first, later in zip(FLOATS, *functions(FLOATS, dtype), strict=True):
        same(first, later, fn, zeros=dtype not in HALVES or fn not in ("max", "min"))


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_functions_of_integers(name: str) -> None:
    for fn, first, later in zip(WHOLE, *functions(WHOLE, np.dtype(name)), strict=True):
        same(first, later, fn)


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_a_number_beside_integers(name: str) -> None:
    """It has no type of its own: unsigned integers of 64 bits stay so."""
    dtype = np.dtype(name)
    x = np.random.default_rng().integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 64, dtype)
    found = mlc.jit(lambda x: (x % 6, x // 7))(mnp.asarray(x))
    for ours, theirs in zip(found, (x % 6, x // 7), strict=True):
        np.testing.assert_array_equal(np.asarray(ours), theirs)


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_transcendental_functions_are_close(name: str) -> None:
    names, dtype = tuple(sorted(CLOSE)), np.dtype(name)
    for fn, first, later in zip(names, *functions(names, dtype), strict=True):
        finite = np.isfinite(first)
        same(np.where(finite, dtype.type(0), first), np.where(np.isfinite(later), dtype.type(0), later), fn)
        apart, size = np.abs(first[finite].astype(np.longdouble) - later[finite]), np.abs(first[finite])
        units = 8 if fn == "sigmoid" else 4
        close = (apart <= units * np.spacing(size)) | (np.maximum(size, apart) < np.finfo(dtype).tiny)
        assert close.all(), fn


def test_reductions_and_movements() -> None:
    x, w = drawn(np.dtype(np.float32))[0][:256].reshape(16, 16), drawn(np.dtype(np.int64))[0][:256].reshape(16, 16)
    at = np.array([3, -1, 0, 3])
    exact: dict[str, Callable[[Any, Any], Any]] = {
        "max": lambda x, w: mnp.max(x, axis=1),
        "min": lambda x, w: mnp.min(x, axis=0),
        "argmax": lambda x, w: mnp.argmax(x, axis=1),
        "argmin": lambda x, w: mnp.argmin(x),
        "sort": lambda x, w: mnp.sort(x, axis=0),
        "argsort": lambda x, w: mnp.argsort(x, axis=1, descending=True),
        "running": lambda x, w: mnp.cumulative_sum(mnp.where(mnp.isfinite(x), x, 1.0), axis=1),
        "gather": lambda x, w: x[at],
        "scatter": lambda x, w: x.at[at].set(x[:4]),
        "added": lambda x, w: w.at[at].add(w[:4]),
        "sum": lambda x, w: mnp.sum(w, axis=1),
        "product": lambda x, w: mnp.prod(w, axis=0),
        "matrices": lambda x, w: w @ w,
        "cast": lambda x, w: mnp.astype(w, mnp.float32),
        "any": lambda x, w: mnp.any(x > 1, axis=1),
        "search": lambda x, w: mnp.searchsorted(mnp.sort(w[0]), w[1]),
        "unsorted": lambda x, w: mnp.take_along_axis(x, mnp.argsort(x, axis=1), axis=1),
    }
    results = twice(lambda x, w: [f(x, w) for f in exact.values()], x, w)
    for name, first, later in zip(exact, *results, strict=True):
        same(first, later, name)


def test_sums_and_products_of_floats_are_close() -> None:
    x = np.random.default_rng().normal(size=(70, 70)).astype(np.float32)
    forms: dict[str, Callable[[Any], Any]] = {
        "sum": lambda x: mnp.sum(x, axis=0),
        "mean": lambda x: mnp.mean(x, axis=1),
        "var": lambda x: mnp.var(x, axis=1),
        "matrices": lambda x: x @ x,
        "fused": lambda x: x * x + x,
    }
    for name, first, later in zip(forms, *twice(lambda x: [f(x) for f in forms.values()], x), strict=True):
        np.testing.assert_allclose(first, later, rtol=2e-6, atol=2e-5, err_msg=name)
