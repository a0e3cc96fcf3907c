"""Sessions as onnxruntime's at sizes that the guards of a model do not allow."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest

import mlc
from mlc.errors import RunError

HEAD = '<ir_version: 9, opset_import: ["" : 20]>'
MODELS = {
    "a sum that broadcasts": (
        "g (float[2,n] x, float[2,m] y) => (float[2,k] z) { z = Add(x, y) }",
        [((2, 5), (2, 5)), ((2, 5), (2, 1)), ((2, 1), (2, 4))], [((2, 5), (2, 4))],
    ),
    "a rank that a size decides": (
        "g (float[b,n] x, float[3] y) => (float[k] z) { s = Squeeze(x) z = Add(s, y) }",
        [((4, 3), (3,)), ((1, 3), (3,)), ((1, 1), (3,))], [((4, 5), (3,))],
    ),
    "a pyramid": (
        """g (float[1,1,h,4] x, float[3] y) => (float[1,1,i,j] z) {
            a = MaxPool<kernel_shape=[2,2],strides=[2,2]>(x) t = Constant<value_floats=[1.0,1.0,2.0,2.0]>()
            b = Resize<mode="nearest",coordinate_transformation_mode="asymmetric",nearest_mode="floor">(a,,t)
            z = Add(x, b) }""",
        [((1, 1, 4, 4), (3,))], [((1, 1, 5, 4), (3,))],
    ),
}  # fmt: skip


def sessions(text: str) -> tuple[Any, Any]:
    data = onnx.parser.parse_model(f"{HEAD} {text}").SerializeToString()
    return mlc.InferenceSession(data), onnxruntime.InferenceSession(data)


@pytest.mark.parametrize("name", list(MODELS))
def test_sizes_that_onnxruntime_takes(name: str) -> None:
    text, fitting, others = MODELS[name]
    ours, theirs = sessions(text)
    random = np.random.default_rng()
    for shapes in fitting + others:
        feed = {n: random.standard_normal(s).astype("f") for n, s in zip("xy", shapes, strict=True)}
        with warnings.catch_warnings(action="ignore"):
            if shapes in others:
                with pytest.raises(RunError):
                    ours.run(None, feed)
                with pytest.raises(Exception, match="ONNXRuntimeError"):
                    theirs.run(None, feed)
                continue
            (found,), (wanted,) = ours.run(None, feed), theirs.run(None, feed)
        assert found.shape == wanted.shape
        np.testing.assert_array_equal(found, wanted)


def test_a_variant_is_announced_and_kept() -> None:
    ours, _ = sessions(MODELS["a sum that broadcasts"][0])
    feed = {"x": np.ones((2, 5), "f"), "y": np.ones((2, 1), "f")}
    with pytest.warns(UserWarning, match=r"compiles the model again for these sizes. Input 'y' must be"):
        ours.run(None, feed)
    with warnings.catch_warnings(action="error"):
        (found,) = ours.run(None, feed)
    np.testing.assert_array_equal(found, np.full((2, 5), 2, "f"))


def test_sizes_that_the_options_fix_stay() -> None:
    data = onnx.parser.parse_model(f"{HEAD} {MODELS['a sum that broadcasts'][0]}").SerializeToString()
    ours = mlc.InferenceSession(data, dims={"n": 5})
    for _ in range(2):
        with pytest.raises(RunError, match="must be float32"):
            ours.run(None, {"x": np.ones((2, 4), "f"), "y": np.ones((2, 4), "f")})


def test_a_variant_for_ones_leaves_other_sizes_open() -> None:
    ours, theirs = sessions(MODELS["a sum that broadcasts"][0])
    with pytest.warns(UserWarning, match="compiles the model again"):
        ours.run(None, {"x": np.ones((2, 3), "f"), "y": np.ones((2, 1), "f")})
    with warnings.catch_warnings(action="error"):
        for n in range(4, 16):
            feed = {"x": np.random.default_rng().random((2, n), "f"), "y": np.ones((2, 1), "f")}
            np.testing.assert_array_equal(ours.run(None, feed)[0], theirs.run(None, feed)[0])


def test_the_size_of_an_axis_that_the_options_fix_stays() -> None:
    data = onnx.parser.parse_model(f"{HEAD} {MODELS['a sum that broadcasts'][0]}").SerializeToString()
    ours = mlc.InferenceSession(data, dims={"y:1": 1})
    assert ours.run(None, {"x": np.ones((2, 4), "f"), "y": np.ones((2, 1), "f")})[0].shape == (2, 4)
    with pytest.raises(RunError, match="must be float32"):
        ours.run(None, {"x": np.ones((2, 4), "f"), "y": np.ones((2, 4), "f")})
