"""Resize of open extents in all modes, by scales and to sizes: one artifact at several sizes against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from onnx import ModelProto, helper, numpy_helper

import mlc

CASES: dict[str, tuple[dict[str, Any], dict[str, list[float]]]] = {
    "linear": ({"mode": "linear"}, {"scales": [1, 1, 2.0, 1.5]}),
    "linear, pytorch": (
        {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, {"scales": [1, 1, 1 / 3, 0.7]},
    ),
    "corners": ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, {"scales": [1, 1, 2.0, 3.0]}),
    "nearest": (
        {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        {"scales": [1, 1, 1 / 3, 1.3]},
    ),
    "cubic": ({"mode": "cubic", "exclude_outside": 1}, {"scales": [1, 1, 0.5, 2.5]}),
    "antialias": ({"mode": "cubic", "antialias": 1}, {"scales": [1, 1, 0.6, 0.3]}),
    "sizes": ({"mode": "linear", "coordinate_transformation_mode": "half_pixel"}, {"sizes": [1, 2, 7, 11]}),
    "antialias to sizes": ({"mode": "linear", "antialias": 1}, {"sizes": [1, 2, 5, 3]}),
    "ratio": (
        {"mode": "nearest", "keep_aspect_ratio_policy": "not_larger", "axes": [2, 3]}, {"sizes": [9, 9]},
    ),
}  # fmt: skip


def resized(attributes: dict[str, Any], given: dict[str, list[float]]) -> ModelProto:
    kinds = {"scales": np.float32, "sizes": np.int64}
    weights = [numpy_helper.from_array(np.array(v, kinds[k]), k) for k, v in given.items()]
    inputs = ["x", "", *(["scales"] if "scales" in given else ["", "sizes"])]
    x = helper.make_tensor_value_info("x", 1, [1, 2, "h", "w"])
    y = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph([helper.make_node("Resize", inputs, ["y"], **attributes)], "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


@pytest.mark.parametrize("name", list(CASES))
def test_open_extents(name: str) -> None:
    model, rng = resized(*CASES[name]), np.random.default_rng()
    net, session = mlc.compile(model), onnxruntime.InferenceSession(model.SerializeToString())
    for h, w in ((10, 17), (6, 30), (13, 4)):
        x = rng.normal(size=(1, 2, h, w)).astype("f")
        np.testing.assert_allclose(net(x), session.run(None, {"x": x})[0], rtol=0, atol=1e-4)


COMPUTED = """
    two = Constant<value_int=2>() three = Constant<value_int=3>() zero = Constant<value_ints=[0]>() s = Shape(x)
    a = Gather(s, two) b = Gather(s, three) fa = Cast<to=1>(a) fb = Cast<to=1>(b)
    k = Constant<value_float=1.5>() d = Constant<value_float=3.0>() ma = Mul(fa, k) mb = Div(fb, d)
    ga = Floor(ma) gb = Ceil(mb) ia = Cast<to=7>(ga) ib = Cast<to=7>(gb) ua = Unsqueeze(ia, zero)
    ub = Unsqueeze(ib, zero) r = Shape<end=2>(x) t = Concat<axis=0>(r, ua, ub) y = Resize<mode="linear">(x, , , t)
"""


def test_sizes_computed_by_floats() -> None:
    """As older exporters write interpolation by a scale: floor(f32(h) * 1.5) is (3*h)//2, no run-time dimension."""
    text = f'<ir_version: 10, opset_import: ["" : 20]> g (float[1,2,h,w] x) => (float[a,b,c,d] y) {{ {COMPUTED} }}'
    model = onnx.parser.parse_model(text)
    net, session = mlc.compile(model), onnxruntime.InferenceSession(model.SerializeToString())
    assert str(net.outputs["y"]) == "float32[1, 2, ((3*h)//2), ((w+2)//3)]"
    for h, w in ((4, 5), (7, 3), (9, 9)):
        x = np.random.default_rng().normal(size=(1, 2, h, w)).astype("f")
        np.testing.assert_allclose(net(x), session.run(None, {"x": x})[0], rtol=0, atol=1e-5)


def test_a_scale_of_300() -> None:
    """As of the pitch of a text-to-speech model: 1/300, and 300 back."""
    model = resized({"mode": "linear"}, {"scales": [1, 1, 1, 1 / 300]})
    net, session = mlc.compile(model), onnxruntime.InferenceSession(model.SerializeToString())
    for w in (600, 3299):
        x = np.random.default_rng().normal(size=(1, 2, 1, w)).astype("f")
        np.testing.assert_allclose(net(x), session.run(None, {"x": x})[0], rtol=0, atol=1e-4)
