"""Models in 16 bits: what is halved, and what operators take in 32 bits alone."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, numpy_helper

import mlc
from benchmarks.models import FAMILIES, build, small
from benchmarks.models.halves import DTYPES, halved

RESIZED = """<ir_version: 9, opset_import: ["" : 18]> net (float[1,2,5,5] x, bool c) => (float[1,2,N,M] y)
  <float[4] scales = {1, 1, 2.5, 1.5}> {
    r = Resize <mode = "linear"> (x, , scales)
    s = Constant <value = float[4] {1, 1, 2, 1}> ()
    t = Resize (r, , s)
    y = If (c) <then_branch = a () => (float[1,2,N,M] p) { k = Constant <value = float {0.5}> ()  p = Mul (t, k) },
                else_branch = b () => (float[1,2,N,M] q) { q = Cast <to = 1> (t) }>
}"""


@pytest.mark.parametrize("element", DTYPES)
def test_scales_of_resize_stay_and_bodies_are_halved(element: int) -> None:
    model = halved(onnx.parser.parse_model(RESIZED), element)
    assert model.graph.initializer[0].data_type == TensorProto.FLOAT
    assert model.graph.node[1].attribute[0].t.data_type == TensorProto.FLOAT
    branches = {a.name: a.g for a in model.graph.node[3].attribute}
    assert branches["then_branch"].node[0].attribute[0].t.data_type == element
    assert branches["else_branch"].node[0].attribute[0].i == element
    assert model.graph.input[0].type.tensor_type.elem_type == element
    x = np.random.default_rng().standard_normal((1, 2, 5, 5)).astype(DTYPES[element])
    with mlc.compile(model) as net:
        found = [net.run({"x": x, "c": np.array(c)})["y"].astype(np.float64) for c in (True, False)]
    assert found[0].shape == (1, 2, 24, 7)
    np.testing.assert_allclose(2 * found[0], found[1], rtol=1e-2)


@pytest.mark.parametrize("element, largest", [(TensorProto.FLOAT16, 65504), (TensorProto.BFLOAT16, 3.3895e38)])
def test_finite_values_stay_finite(element: int, largest: float) -> None:
    text = """<ir_version: 9, opset_import: ["" : 18]> net (float[3] x) => (float[3] y) { y = Add (x, w) }"""
    model = onnx.parser.parse_model(text)
    values = np.array([np.finfo(np.float32).min, np.inf, 1.5], np.float32)
    model.graph.initializer.append(numpy_helper.from_array(values, "w"))
    found = numpy_helper.to_array(halved(model, element).graph.initializer[0]).astype(np.float32)
    np.testing.assert_allclose(found, [-largest, np.inf, 1.5], rtol=1e-4)


@pytest.mark.parametrize("name", ["mlp", "lstm", "unet"])
def test_models_of_bfloat16_are_near_those_of_f32(name: str) -> None:
    made = build(name, **small.OPTIONS[name])
    random, feed = np.random.default_rng(), {}
    for each in made.graph.input:
        feed[each.name] = random.standard_normal([d.dim_value for d in each.type.tensor_type.shape.dim], np.float32)
    with mlc.compile(made) as net, mlc.compile(halved(made, TensorProto.BFLOAT16)) as half:
        wanted, found = net.run(feed), half.run({n: x.astype(ml_dtypes.bfloat16) for n, x in feed.items()})
    for key, theirs in wanted.items():
        assert np.abs(found[key].astype(np.float32) - theirs).max() < 0.1 * np.abs(theirs).max()
    assert name in FAMILIES
