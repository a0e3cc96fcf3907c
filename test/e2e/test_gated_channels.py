"""Squeeze and excitation: channels scaled by what was computed of them, before a convolution; against NumPy."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

import mlc

GATED = """<ir_version: 8, opset_import: ["" : 17]>
gated (float[{batch},{channels},{size},{size}] x) => (float[{batch},{filters},{size},{size}] y)
<float[{channels},{channels},1,1] stem, float[{inner},{channels},1,1] down,
 float[{channels},{inner},1,1] up, float[{filters},{channels},1,1] project>
{{
  image = Conv (x, stem)
  means = GlobalAveragePool (image)
  few = Conv (means, down)
  some = Relu (few)
  all = Conv (some, up)
  gate = Sigmoid (all)
  scaled = Mul (gate, image)
  y = Conv (scaled, project)
}}"""

SIZES = [(1, 32, 9, 48, 4), (1, 48, 14, 32, 16), (1, 21, 7, 5, 3), (2, 32, 9, 16, 4), (1, 64, 2, 64, 8)]


def network(sizes: tuple[int, ...]) -> tuple[onnx.ModelProto, list[np.ndarray], list[np.ndarray]]:
    batch, channels, size, filters, inner = sizes
    names = {"batch": batch, "channels": channels, "size": size, "filters": filters, "inner": inner}
    model = onnx.parser.parse_model(GATED.format(**names))
    normal = np.random.default_rng().standard_normal
    shapes = (channels, channels, 1, 1), (inner, channels, 1, 1), (channels, inner, 1, 1), (filters, channels, 1, 1)
    weights = [normal(shape).astype("f4") for shape in shapes]
    del model.graph.initializer[:]
    model.graph.initializer.extend(map(onnx.numpy_helper.from_array, weights, ("stem", "down", "up", "project")))
    return model, [normal((batch, channels, size, size)).astype("f4")], weights


def reference(x: np.ndarray, *weights: np.ndarray) -> np.ndarray:
    stem, down, up, project = (w[:, :, 0, 0].astype("f8") for w in weights)
    x = np.einsum("fc,nchw->nfhw", stem, x)
    gate = 1 / (1 + np.exp(-up @ np.maximum(down @ x.mean((2, 3)).T, 0)))
    return np.einsum("fc,cn,nchw->nfhw", project, gate, x)


@pytest.mark.parametrize("numerics", ["default", "strict"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_gated(sizes: tuple[int, ...], numerics: str) -> None:
    model, (x,), weights = network(sizes)
    expected = reference(x.astype("f8"), *weights)
    actual = mlc.compile(model, numerics=numerics)(x)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_what_is_scaled(sizes: tuple[int, ...]) -> None:
    """The weights, where they are fewer than the numbers of the image and the batch is one image; never in `strict`."""
    batch, channels, size, filters, _ = sizes
    fewer = batch == 1 and filters < size**2
    assert (passes(sizes, "default") < passes(sizes, "strict")) == fewer


def passes(sizes: tuple[int, ...], numerics: str) -> int:
    """Bytes that the kernel of the gate reads and writes."""
    net = mlc.compile(network(sizes)[0], numerics=numerics)
    return sum(int(k["bytes"]) for k in net.signature["kernels"] if any(n.startswith("Mul") for n in k["nodes"]))
