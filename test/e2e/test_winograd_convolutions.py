"""Convolutions by Winograd's transforms, compiled: against onnxruntime, on sizes that fit no tile."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from onnx import ModelProto, numpy_helper

import mlc

NODES = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[BATCH, 64, HEIGHT, WIDTH] x) => (float[B, 80, P, Q] y)
{
  c = Conv <pads = [1, 1, 1, 1]> (x, w1, b1)
  r = Relu (c)
  d = Conv <pads = [0, 1, 2, 0]> (r, w2)
  e = Conv <pads = [1, 1, 1, 1]> (d, w3)
  s = Add (e, d)
  y = Sigmoid (s)
}
"""
WEIGHTS = {"w1": (72, 64, 3, 3), "b1": (72,), "w2": (80, 72, 3, 3), "w3": (80, 80, 3, 3)}
SIZES = ((13, 18), (22, 35), (3, 50))


def build(batch: int | str, height: int, width: int, random: np.random.Generator) -> ModelProto:
    text = NODES
    for name, extent in (("BATCH", batch), ("HEIGHT", height), ("WIDTH", width)):
        text = text.replace(name, str(extent))
    model = onnx.parser.parse_model(text)
    for name, shape in WEIGHTS.items():
        array = (random.standard_normal(shape) / 25).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model


def transforms(net: mlc.Model) -> int:
    kernels: list[dict[str, Any]] = net.signature["kernels"]
    return sum("winograd_sums" in kernel["name"] for kernel in kernels)


def compare(net: mlc.Model, model: ModelProto, x: np.ndarray, tolerance: float) -> None:
    reference = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    np.testing.assert_allclose(net(x), reference, rtol=0, atol=tolerance * np.abs(reference).max())


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("numerics", ["default", "strict"])
@pytest.mark.parametrize(("height", "width"), SIZES)
def test_static_sizes(height: int, width: int, numerics: Any, target: str) -> None:
    random = np.random.default_rng(height)
    model = build(2, height, width, random)
    net = mlc.compile(model, threads=2, numerics=numerics, target=target)
    assert bool(transforms(net)) == (numerics == "default")
    x = random.standard_normal((2, 64, height, width)).astype(np.float32)
    compare(net, model, x, 1e-5 if numerics == "strict" else 5e-5)


def test_a_symbolic_batch() -> None:
    random = np.random.default_rng(7)
    model = build("B", 21, 14, random)
    net = mlc.compile(model, threads=2)
    assert transforms(net)
    for batch in (1, 3, 17):
        compare(net, model, random.standard_normal((batch, 64, 21, 14)).astype(np.float32), 5e-5)


def test_threads_do_not_change_a_bit() -> None:
    random = np.random.default_rng(9)
    model, x = build(1, 22, 31, random), random.standard_normal((1, 64, 22, 31)).astype(np.float32)
    first, *others = (mlc.compile(model, threads=threads)(x) for threads in (1, 2, 4))
    for other in others:
        np.testing.assert_array_equal(first, other)
