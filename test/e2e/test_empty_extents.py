"""Kernels without elements: products, convolutions and quantized products of which an extent is 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp

SHAPES = [((3, 4), (4, 0)), ((0, 4), (4, 3)), ((3, 0), (0, 4)), ((5, 3, 4), (5, 4, 0)), ((0, 3, 4), (0, 4, 2))]
SHAPES += [((16, 64), (64, 0)), ((2, 0, 4), (2, 4, 0)), ((0, 0), (0, 0)), ((64, 0), (0, 64))]


@pytest.mark.parametrize("a, b", SHAPES)
def test_products(a: Any, b: Any) -> None:
    f = mlc.jit(lambda x, y: mnp.maximum(x @ y + 1, 0) * 2, wait=True)
    x, y = np.ones(a, np.float32), np.ones(b, np.float32)
    np.testing.assert_array_equal(f(x, y), np.maximum(x @ y + 1, 0) * 2, strict=True)


@pytest.mark.parametrize("a, b", [(0, 0), (0, 3), (3, 0)])
def test_outer_products(a: int, b: int) -> None:
    x, y = np.ones(a, np.float32), np.ones(b, np.float32)
    np.testing.assert_array_equal(mlc.jit(mnp.linalg.outer, wait=True)(x, y), np.outer(x, y), strict=True)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
@pytest.mark.parametrize("f", ["sum", "prod", "cumsum", "sort", "argsort", "exp"])
def test_other_functions(f: str, shape: tuple[int, ...]) -> None:
    x = np.ones(shape, np.float32)
    wanted = getattr(np, f)(x, axis=-1) if f != "exp" else np.exp(x)
    function = getattr(mnp, f)
    found = mlc.jit(lambda x: function(x, axis=-1) if f != "exp" else function(x), wait=True)(x)
    np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_unique_of_nothing(shape: tuple[int, ...]) -> None:
    np.testing.assert_array_equal(mnp.unique_values(np.ones(shape, np.float32)), np.unique(np.ones(shape, np.float32)))
