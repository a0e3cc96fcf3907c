"""RoiAlign with as many samples as a bin has pixels, against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from single import agrees, single

import mlc


def regions(rng: np.random.Generator, count: int, height: int, width: int) -> np.ndarray:
    """Inside of the image, across its border, outside of it, smaller than a pixel, and reversed."""
    corners = rng.uniform(-0.3, 1.3, (count, 2, 2)) * [width, height]
    boxes = np.concatenate([corners.min(1), corners.max(1)], 1)
    boxes[0] = [width, height, 0, 0]
    boxes[1, 2:] = boxes[1, :2] + 0.3
    boxes[2] += 3 * width
    return boxes.astype("f4")


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("how", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize(("shape", "out", "scale"), [((2, 3, 13, 9), (3, 4), 1.0), ((1, 2, 8, 21), (1, 2), 0.37)])
def test_adaptive_sampling(mode: str, how: str, shape: tuple[int, ...], out: tuple[int, int], scale: float) -> None:
    rng = np.random.default_rng(3)
    x, boxes = rng.standard_normal(shape).astype("f4"), regions(rng, 17, *shape[2:])
    inputs = {"x": x, "rois": boxes / np.float32(scale), "batch": rng.integers(0, shape[0], 17)}
    size = {"output_height": out[0], "output_width": out[1], "spatial_scale": scale}
    agrees("RoiAlign", inputs, version=16, mode=mode, coordinate_transformation_mode=how, sampling_ratio=0, **size)


def test_adaptive_sampling_of_open_sizes() -> None:
    rng = np.random.default_rng(4)
    x, boxes = rng.standard_normal((2, 3, 11, 7)).astype("f4"), regions(rng, 9, 11, 7)
    feeds = {"x": x, "rois": boxes, "batch": rng.integers(0, 2, 9)}
    closed = single("RoiAlign", feeds, version=16, output_height=2, output_width=3)
    open_ = onnx.ModelProto.FromString(closed.SerializeToString())
    for value, names in zip(open_.graph.input, (("b", "", "h", "w"), ("n", ""), ("n",)), strict=True):
        for dim, name in zip(value.type.tensor_type.shape.dim, names, strict=True):
            if name:
                dim.dim_param = name
    (right,), (found,) = (mlc.compile(m).run(feeds).values() for m in (closed, open_))
    np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)
