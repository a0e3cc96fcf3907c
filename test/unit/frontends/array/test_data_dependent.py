"""Sorting, searching, sets, masks and other functions of the standard against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp

RNG = np.random.default_rng(20262)
X = np.round(RNG.normal(size=(4, 6)) * 2)
Y = RNG.normal(size=(3, 5))
K = RNG.integers(-5, 5, size=(4, 6))
F = K > 0
NAN = np.array([3.0, np.nan, -1, np.inf, np.nan, 0])

CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "sort": (lambda x: mnp.sort(x, axis=0), lambda x: np.sort(x, 0), (X,)),
    "sort of NaN": (mnp.sort, np.sort, (NAN,)),
    "sort of bytes": (mnp.sort, np.sort, (K.astype(np.uint8),)),
    "descending": (lambda x: mnp.sort(x, descending=True), lambda x: -np.sort(-x), (X,)),
    "argsort": (mnp.argsort, lambda x: np.argsort(x, stable=True), (X,)),
    "argsort down": (
        lambda x: mnp.argsort(x, axis=0, descending=True),
        lambda x: np.argsort(-x, axis=0, stable=True),
        (K,),
    ),
    "searchsorted": (
        lambda x, y: mnp.searchsorted(mnp.sort(x[0]), y),
        lambda x, y: np.searchsorted(np.sort(x[0]), y),
        (X, Y),
    ),
    "searchsorted right": (
        lambda x: mnp.searchsorted(mnp.sort(x), x, side="right"),
        lambda x: np.searchsorted(np.sort(x), x, side="right"),
        (NAN,),
    ),
    "sorter": (
        lambda x, y: mnp.searchsorted(x[0], y, sorter=mnp.argsort(x[0])),
        lambda x, y: np.searchsorted(x[0], y, sorter=np.argsort(x[0])),
        (X, Y),
    ),
    "isin": (lambda x: mnp.isin(x, x[0, :2], invert=True), lambda x: np.isin(x, x[0, :2], invert=True), (K,)),
    "repeat": (lambda x: mnp.repeat(x, 3, axis=1), lambda x: np.repeat(x, 3, 1), (X,)),
    "diff": (lambda x: mnp.diff(x, n=2, axis=0), lambda x: np.diff(x, 2, 0), (X,)),
    "diff of masks": (mnp.diff, np.diff, (F,)),
    "prepend": (lambda x: mnp.diff(x, prepend=x[:, 1:3]), lambda x: np.diff(x, prepend=x[:, 1:3]), (X,)),
    "include_initial": (
        lambda x: mnp.cumulative_prod(x, axis=1, include_initial=True),
        lambda x: np.cumulative_prod(x, axis=1, include_initial=True),
        (X,),
    ),
    "copysign": (mnp.copysign, np.copysign, (Y, -np.abs(Y))),
    "signbit": (mnp.signbit, np.signbit, (np.array([-0.0, 0, 1, -np.inf], np.float16),)),
    "nextafter": (mnp.nextafter, np.nextafter, (Y, np.array([0.0, np.inf, -np.inf, np.nan, 1]))),
    "nextafter 0": (lambda x: mnp.nextafter(x * 0, x), lambda x: np.nextafter(x * 0, x), (Y.astype(np.float32),)),
    "logaddexp": (mnp.logaddexp, np.logaddexp, (Y * 400, Y[::-1])),
    "hypot": (mnp.hypot, np.hypot, (Y * 1e200, Y[::-1] * 1e200)),
    "expand_dims": (lambda x: mnp.expand_dims(x, (0, -1)), lambda x: np.expand_dims(x, (0, -1)), (X,)),
}
EAGER: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "mask": (lambda x, f: x[f], lambda x, f: x[f], (X, F)),
    "mask of rows": (lambda x, f: x[f[:, 0], 1:], lambda x, f: x[f[:, 0], 1:], (X, F)),
    "mask after ellipsis": (lambda x, f: x[..., f[0]], lambda x, f: x[..., f[0]], (X, F)),
    "mask of rank 0": (lambda x, f: x[f[0, 0]], lambda x, f: x[f[0, 0]], (X, F)),
    "True": (lambda x: x[True], lambda x: x[True], (X,)),
    "nonzero": (mnp.nonzero, np.nonzero, (K,)),
    "unique": (mnp.unique_all, np.unique_all, (K,)),
    "unique NaN": (mnp.unique_counts, np.unique_counts, (NAN,)),
    "unique_inverse": (mnp.unique_inverse, np.unique_inverse, (X,)),
    "repeats": (
        lambda x: mnp.repeat(x, mnp.asarray([0, 2, 1, 3]), axis=0),
        lambda x: np.repeat(x, [0, 2, 1, 3], 0),
        (X,),
    ),
}


def check(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            check(a, b)
    else:
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-14)


@pytest.mark.parametrize("name", [*CASES, *EAGER])
def test_against_numpy(name: str) -> None:
    ours, reference, data = (CASES | EAGER)[name]
    check(ours(*map(mnp.asarray, data)), reference(*data))


def test_compiled() -> None:
    """All of them as one program."""
    found = mlc.jit(lambda every: {name: CASES[name][0](*data) for name, data in every.items()})(
        {name: data for name, (_, _, data) in CASES.items()}
    )
    for name, (_, reference, data) in CASES.items():
        check(found[name], reference(*data))


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda x: x[F[:2]], IndexError, "a mask of shape"),
        (lambda x: x[0, 0, 0], IndexError, "3 indices"),
        (lambda x: mnp.broadcast_shapes((2, 3), (4,)), ValueError, "broadcast"),
        (lambda x: mnp.searchsorted(x, x), mlc.errors.InputError, "searchsorted"),
        (lambda x: mlc.jit(lambda y: y[y > 0])(x), mlc.errors.InputError, "unknown number"),
    ],
)
def test_errors(f: Callable[..., Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        f(mnp.asarray(X))


def test_dlpack_shares_memory_read_only() -> None:
    x = mnp.asarray(Y) + 1
    shared = np.from_dlpack(x)
    assert np.shares_memory(shared, x.numpy()) and not shared.flags.writeable
    own = Y.copy()
    assert np.shares_memory(mnp.from_dlpack(own, copy=False).numpy(), own)
    assert not np.shares_memory(mnp.from_dlpack(own).numpy(), own)


def test_inspection() -> None:
    info = mnp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == np.float32 and info.devices() == ("cpu",)
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    limits = mnp.finfo(mnp.complex64)
    assert (limits.dtype, limits.bits, type(limits.eps)) == (np.float32, 32, float)
