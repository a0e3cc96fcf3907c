"""Powers of integers, resized integers and doubles of sampled images: against exact numbers and float64 references."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import agrees, single, ways

WHOLE = np.int64([100001, 3, -7, 1 << 26, 94906265, 0, 1])


@pytest.mark.parametrize("exponent", [np.float32(2.0), np.float64(2.0), np.float32(1), np.float32(0), np.int32(2)])
@pytest.mark.parametrize("constant", [False, True])
def test_powers_of_integers_are_exact(exponent: Any, constant: bool) -> None:
    expected = WHOLE ** int(exponent)
    constants = ("n",) if constant else ()
    agrees("Pow", {"x": WHOLE, "n": exponent}, wanted=[expected], constants=constants)


def test_a_large_exponent_keeps_its_parity() -> None:
    x, n = np.float32([-1, -1, -1]), np.int64([(1 << 24) + 1, 1 << 24, -(1 << 24) - 1])
    agrees("Pow", {"x": x, "n": n}, wanted=[np.float32([-1, 1, -1])])


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("element", [np.uint8, np.int8, np.int32])
def test_resized_integers_are_rounded_once(mode: str, element: Any) -> None:
    """As the same numbers resized as floats, cut after the last dimension."""
    x = np.random.default_rng().integers(0, 20, (1, 1, 4, 5)).astype(element) * 5
    given = {"x": x, "roi": None, "scales": None, "sizes": np.int64([1, 1, 7, 9])}
    attributes = {"mode": mode, "coordinate_transformation_mode": "align_corners", "constants": ("sizes",)}
    real = {"x": x.astype(np.float64)}
    exact = ways(single("Resize", given | real, **attributes), real)[0]["y0"]
    if mode == "cubic":
        exact = np.clip(exact, np.iinfo(element).min, np.iinfo(element).max)
    near = np.abs(exact - np.rint(exact)) < 1e-3  # where f32 and f64 may be cut to different numbers
    for found in ways(single("Resize", given, **attributes), {"x": x}):
        np.testing.assert_array_equal(found["y0"][~near], np.trunc(exact)[~near])


def bilinear(image: np.ndarray, at: np.ndarray) -> np.ndarray:
    """[C, …]: samples of [C, H, W] at positions […, 2] (x, y) inside of it."""
    low = np.minimum(np.floor(at).astype(int), [image.shape[2] - 2, image.shape[1] - 2])
    (fx, fy), (x, y) = np.moveaxis(at - low, -1, 0), np.moveaxis(low, -1, 0)
    top = image[:, y, x] * (1 - fx) + image[:, y, x + 1] * fx
    return top * (1 - fy) + (image[:, y + 1, x] * (1 - fx) + image[:, y + 1, x + 1] * fx) * fy


def test_grid_samples_of_doubles() -> None:
    random = np.random.default_rng()
    x, grid = random.normal(size=(1, 2, 5, 6)), random.uniform(-0.9, 0.9, (1, 3, 4, 2))
    expected = bilinear(x[0], (grid[0] + 1) / 2 * [5, 4])[None]
    given = {"x": x, "grid": grid}
    for found in ways(single("GridSample", given, align_corners=1), given):
        assert found["y0"].dtype == np.float64
        np.testing.assert_allclose(found["y0"], expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("samples", [0, 1])
def test_regions_of_doubles(samples: int) -> None:
    """One sample in the middle of a bin of a pixel's size."""
    x = np.random.default_rng().normal(size=(1, 2, 8, 8))
    given = {"x": x, "rois": np.array([[1.1, 2.3, 2.1, 3.3]]), "batch": np.int64([0])}
    model = single("RoiAlign", given, output_height=1, output_width=1, sampling_ratio=samples)
    for found in ways(model, given):
        np.testing.assert_allclose(found["y0"][0, :, 0, 0], bilinear(x[0], np.array([1.1, 2.3])), rtol=1e-12)


def test_maxima_of_regions_of_doubles() -> None:
    x = np.random.default_rng().normal(size=(1, 2, 6, 6))
    given = {"x": x, "rois": np.array([[0, 1.0, 1.0, 3.0, 4.0]])}
    for found in ways(single("MaxRoiPool", given, pooled_shape=[1, 1]), given):
        np.testing.assert_array_equal(found["y0"][0, :, 0, 0], x[0, :, 1:5, 1:4].max((1, 2)))
