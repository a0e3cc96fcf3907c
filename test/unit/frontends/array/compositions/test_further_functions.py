"""Bits, exponents, polynomials, windows, histograms of points and files beside NumPy; names and arguments that are not
there."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError


def same(found: Any, wanted: Any, rtol: float = 0) -> None:
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("bitorder", ["big", "little"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_bits(axis: int | None, bitorder: Any) -> None:
    x = np.random.default_rng().integers(0, 3, (5, 11)).astype(np.uint8)
    same(mnp.packbits(x, axis, bitorder), np.packbits(x, axis, bitorder))
    for count in (None, 7, 100):
        how = {"axis": axis, "bitorder": bitorder, "count": count}
        same(mnp.unpackbits(x, **how), np.unpackbits(x, **how))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponents_and_spacings(dtype: Any) -> None:
    limits = np.finfo(dtype)
    edges = [np.inf, -np.inf, np.nan, limits.max, limits.tiny, limits.tiny / 8]
    x = np.array([0, -0.0, 1, -1, 0.5, 3, 1e30, *edges], dtype)
    mantissa, exponent = mnp.frexp(x)
    wanted = np.frexp(x)
    np.testing.assert_array_equal(mantissa, wanted[0])
    np.testing.assert_array_equal(exponent, np.where(np.isfinite(x), wanted[1], 0))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(mnp.spacing(x), np.spacing(x))


def test_polynomials_and_windows() -> None:
    same(mnp.poly([1.0, 2, 3]), np.poly([1.0, 2, 3]), 1e-5)
    same(mnp.real(mnp.poly(np.diag([1.0, 2, 4]))), np.poly([1.0, 2, 4]), 1e-5)
    for ours, theirs in zip(mnp.polydiv([1.0, 2, 3, 4], [1.0, 2]), np.polydiv([1.0, 2, 3, 4], [1.0, 2]), strict=True):
        same(ours, theirs, 1e-5)
    same(mnp.kaiser(12, 5.0), np.kaiser(12, 5.0), 1e-6)
    same(mnp.kaiser(1, 5.0), [1])
    x = np.array([2 + 1j, 1 + 2j, 1 - 1j, 0])
    same(mnp.sort_complex(x), np.sort_complex(x))


def test_histograms_of_points() -> None:
    points = np.random.default_rng().normal(size=(50, 3))
    for how in ({"bins": (3, 4, 5)}, {"bins": 4, "density": True, "range": [(-1, 1)] * 3}):
        found, sides = mnp.histogramdd(points, **how)
        wanted, limits = np.histogramdd(points, **how)
        same(found, wanted, 1e-5)
        for ours, theirs in zip(sides, limits, strict=True):
            same(ours, theirs, 1e-5)
    same(mnp.histogram2d(points[:, 0], points[:, 1], 5)[0], np.histogram2d(points[:, 0], points[:, 1], 5)[0])


def test_files() -> None:
    file = io.BytesIO()
    mnp.savez(file, a=mnp.arange(3), b=np.eye(2))
    file.seek(0)
    found = mnp.load(file)
    same(found["a"], np.arange(3))
    same(found["b"], np.eye(2))
    same(mnp.frombuffer(b"\1\2\3", dtype="uint8", offset=1), [2, 3])


def test_what_is_not_there_says_why() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'arange'"):
        mnp.aragne  # noqa: B018
    with pytest.raises(AttributeError, match="keep them in NumPy"):
        mnp.datetime64  # noqa: B018
    with pytest.raises(AttributeError, match="eigh for Hermitian"):
        mnp.linalg.sqrtm  # noqa: B018
    with pytest.raises(InputError, match=r"mlc.numpy.add has no out=.*Write x\[...\] = f"):
        mnp.add(mnp.ones(2), 1, out=mnp.ones(2))


def test_tensors_as_matrices() -> None:
    a = np.random.default_rng().normal(size=(2, 3, 6))
    same(mnp.linalg.tensorinv(a, ind=2), np.linalg.tensorinv(a, ind=2), 1e-8)
    b = np.random.default_rng().normal(size=(2, 3))
    same(mnp.linalg.tensorsolve(a, b), np.linalg.tensorsolve(a, b), 1e-8)


@pytest.mark.parametrize("element", ["float64", "int32"])
def test_pad_by_a_ramp(element: str) -> None:
    x = np.array([[7, 2, 9], [4, -5, 6]], element)
    for width, ends in ((2, 3), (((1, 0), (2, 4)), ((1, 2), (-4, 5)))):
        wanted = np.pad(x, width, "linear_ramp", end_values=ends)
        found = np.asarray(mnp.pad(mnp.asarray(x), width, mode="linear_ramp", end_values=ends))
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert found.dtype == x.dtype


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_equal_elements_in_the_middle_share_a_derivative(name: str) -> None:
    median = getattr(mnp, name)
    np.testing.assert_array_equal(mlc.grad(median)(mnp.asarray([3.0, 1.0, 3.0, 9.0])), [0.5, 0, 0.5, 0])
    np.testing.assert_array_equal(mlc.grad(median)(mnp.asarray([3.0, 1.0, 5.0])), [1, 0, 0])
    assert float(np.asarray(median(mnp.asarray([np.inf, np.inf, 1.0, np.inf])))) == np.inf
