"""Operators on regions of images, against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from single import agrees


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng()


def regions(rng: np.random.Generator, count: int, scale: float) -> np.ndarray:
    """Rows of image, x and y of two corners; some reach out of a 11x17 image, some are of one pixel."""
    corners = rng.uniform(-2, 13, (count, 2)) * [1.4, 1]
    sizes = rng.uniform(0, 8, (count, 2)) * (rng.uniform(size=(count, 1)) < 0.8)
    boxes = np.concatenate([corners, corners + sizes], 1) / scale
    return np.concatenate([rng.integers(0, 2, (count, 1)), boxes], 1).astype("f4")


@pytest.mark.parametrize("scale", [1.0, 0.25])
@pytest.mark.parametrize("bins", [(1, 1), (3, 2), (7, 5)])
def test_max_roi_pool(rng: np.random.Generator, bins: tuple[int, int], scale: float) -> None:
    x = rng.normal(size=(2, 3, 11, 17)).astype("f4")
    inputs = {"x": x, "rois": np.abs(regions(rng, 9, scale))}
    agrees("MaxRoiPool", inputs, pooled_shape=bins, spatial_scale=scale, version=7, rtol=0)
