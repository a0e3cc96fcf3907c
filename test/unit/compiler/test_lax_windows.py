"""Products, convolutions, windows and layouts of ``mlc.lax`` against loops of NumPy, and JAX where it is installed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.lax
import mlc.numpy as mnp
from mlc.errors import InputError

Array = np.ndarray[Any, Any]


def normal(*shape: int) -> Array:
    return np.random.default_rng().standard_normal(shape)


def spread(x: Array, low: int, high: int, between: int, axis: int, value: float) -> Array:
    """One axis of ``lax.pad``, element by element."""
    x = np.moveaxis(x, axis, 0)
    found = np.full((len(x) + max(len(x) - 1, 0) * between + low + high, *x.shape[1:]), value)
    for n, row in enumerate(x):
        at = low + n * (between + 1)
        if 0 <= at < len(found):
            found[at] = row
    return np.moveaxis(found, 0, axis)


@pytest.mark.parametrize("config", [((1, 2, 0), (0, 1, 2)), ((-1, 2, 1), (3, -2, 0)), ((0, 0, 0), (-2, -1, 3))])
def test_pad_spreads_and_cuts(config: Any) -> None:
    x = normal(3, 4)
    wanted = spread(spread(x, *config[0], 0, 7.0), *config[1], 1, 7.0)
    np.testing.assert_array_equal(mlc.lax.pad(x, 7.0, config), wanted)
    gradient = np.asarray(mlc.grad(lambda x: mnp.sum(mlc.lax.pad(x, 7.0, config)))(mnp.asarray(x)))
    kept = spread(spread(np.ones_like(x), *config[0], 0, 0.0), *config[1], 1, 0.0)
    assert gradient.sum() == kept.sum()


def image_loops(x: Array, w: Array, steps: Any, apart: Any, groups: int) -> Array:
    """A convolution of NHWC with HWIO, no padding, element by element."""
    reach = [(w.shape[n] - 1) * apart[n] + 1 for n in (0, 1)]
    rows, columns = ((x.shape[n + 1] - reach[n]) // steps[n] + 1 for n in (0, 1))
    found = np.zeros((len(x), rows, columns, w.shape[3]))
    share, out = w.shape[2], w.shape[3] // groups
    for i, j, a, b, f in itertools.product(range(rows), range(columns), *map(range, (*w.shape[:2], w.shape[3]))):
        first = f // out * share
        part = x[:, i * steps[0] + a * apart[0], j * steps[1] + b * apart[1], first : first + share]
        found[:, i, j, f] += part @ w[a, b, :, f]
    return found


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 3)])
def test_convolution_of_images_with_channels_last(groups: int, dilation: tuple[int, int]) -> None:
    x, w = normal(2, 7, 6, 4), normal(3, 2, 4 // groups, 6)
    pads = [(2, -1), (1, 1)]
    numbers = ("NHWC", "HWIO", "NHWC")
    found = mlc.lax.conv_general_dilated(x, w, (2, 1), pads, dilation, (1, 2), numbers, groups)
    padded = spread(spread(x, *pads[0], dilation[0] - 1, 1, 0.0), *pads[1], dilation[1] - 1, 2, 0.0)
    np.testing.assert_allclose(found, image_loops(padded, w, (2, 1), (1, 2), groups), rtol=1e-12, atol=1e-12)


def test_same_padding_and_wrong_dimension_numbers() -> None:
    x, w = normal(1, 2, 8, 8), normal(3, 2, 3, 3)
    assert mlc.lax.conv(x, w, (2, 2), "SAME").shape == (1, 3, 4, 4)
    with pytest.raises(InputError, match="cannot have the dimension numbers"):
        mlc.lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHW", "OIHW", "NCHW"))


def test_dot_general_orders_batch_then_what_is_left() -> None:
    x, y = normal(4, 2, 3, 5), normal(3, 6, 4, 2)
    found = mlc.lax.dot_general(x, y, (((0,), (2,)), ((2, 1), (0, 3))))
    np.testing.assert_allclose(found, np.einsum("abcd,cfab->cbdf", x, y), rtol=1e-12)
    np.testing.assert_allclose(mlc.lax.batch_matmul(x, normal(4, 2, 5, 1) * 0), np.zeros((4, 2, 3, 1)))


REDUCTIONS: list[tuple[Callable[..., Any], Any, float]] = [
    (mlc.lax.add, np.add, 0.0), (mlc.lax.max, np.maximum, -np.inf), (lambda a, b: a * b, np.multiply, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "start"), REDUCTIONS)
def test_windows_and_reductions_by_any_function(ours: Any, theirs: Any, start: float) -> None:
    x = normal(6, 5)
    found = mlc.jit(lambda x: mlc.lax.reduce_window(x, start, ours, (2, 3), (2, 1), [(1, 0), (0, 2)], None, (2, 1)))(x)
    padded = np.pad(x, [(1, 0), (0, 2)], constant_values=start)
    wanted = np.full((3, 5), start)
    for i, j, a, b in itertools.product(range(3), range(5), range(2), range(3)):
        wanted[i, j] = theirs(wanted[i, j], padded[2 * i + 2 * a, j + b])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    whole = mlc.lax.reduce(x, start, ours, (0,))
    np.testing.assert_allclose(whole, theirs.reduce(x, axis=0), rtol=1e-12)


def test_the_first_of_equal_extremes_of_a_window_has_the_derivative() -> None:
    pooled = lambda x: mnp.sum(mlc.lax.reduce_window(x, -np.inf, mlc.lax.max, (2,), (2,), "SAME"))  # noqa: E731
    np.testing.assert_array_equal(mlc.grad(pooled)(mnp.asarray([1.0, 1.0, 3.0])), [1, 0, 1])


def test_shapes() -> None:
    x = normal(2, 6)
    parts = mlc.lax.split(x, (1, 3, 2), axis=1)
    np.testing.assert_array_equal(np.concatenate([np.asarray(each) for each in parts], axis=1), x)
    assert [each.shape for each in parts] == [(2, 1), (2, 3), (2, 2)]
    np.testing.assert_array_equal(mlc.lax.slice(x, (0, 1), (2, 6), (1, 2)), x[0:2, 1:6:2])
    np.testing.assert_array_equal(
        mlc.lax.broadcast_in_dim(x, (2, 3, 6), (0, 2)), np.broadcast_to(x[:, None], (2, 3, 6))
    )
    np.testing.assert_array_equal(mlc.lax.collapse(normal(2, 3, 4, 5) * 0, 1, 3), np.zeros((2, 12, 5)))
    assert mlc.lax.broadcast(x, (3,)).shape == (3, 2, 6)
    np.testing.assert_array_equal(mlc.lax.complex(x, 2 * x), x + 2j * x)
