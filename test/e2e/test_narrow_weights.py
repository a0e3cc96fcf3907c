"""Products of few rows read weights of 16 bits: those of models in f16 and bf16, and with ``numerics = relaxed``
weights rounded to bf16, against NumPy in f64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import emulated
import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper

import mlc
from mlc import target as targets
from mlc.driver.lower import lower
from mlc.frontends.onnx import import_model
from mlc.options import Options

Array = np.ndarray[Any, Any]
SMALL = ":l3=16K"  # a cache that does not hold the weights
HERE = set(targets.get("cpu").features)
TARGETS = [name for name in ("x86-64-v4", "x86-64-v3", "x86-64") if set(targets.get(name).features) <= HERE]
TYPES = {
    "f32": (onnx.TensorProto.FLOAT, np.dtype(np.float32)),
    "f16": (onnx.TensorProto.FLOAT16, np.dtype(np.float16)),
    "bf16": (onnx.TensorProto.BFLOAT16, np.dtype(ml_dtypes.bfloat16)),
}
SHAPES = [((1, 130), (130, 77)), ((2, 77), (77, 160)), ((1, 1, 96), (96, 96))]


def data(element: str, *shape: int) -> Array:
    random = np.random.default_rng()
    return (random.standard_normal(shape) + 0.3).astype(TYPES[element][1])


def model(x: Array, w: Array, element: str) -> onnx.ModelProto:
    code = TYPES[element][0]
    made = helper.make_tensor_value_info("y", code, None)
    given = helper.make_tensor_value_info("x", code, x.shape)
    kept = helper.make_tensor("w", code, w.shape, w.tobytes(), raw=True)
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [given], [made], [kept])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def narrow(proto: onnx.ModelProto, target: str, numerics: Any) -> bool:
    imported = import_model(proto)
    lower(imported.module, imported.weights, Options(target=targets.get(target), numerics=numerics), until="layout")
    return "x0 * f32(x1)" in str(imported.module)


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "x86-64"])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_rounded_weights(name: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, w = data("f32", *left), data("f32", *right)
    proto = model(x, w, "f32")
    assert narrow(proto, name + SMALL, "relaxed") and not narrow(proto, name + SMALL, "default")
    got = mlc.compile(proto, numerics="relaxed", target=name + SMALL).run({"x": x})["y"]
    expected = x.astype(np.float64) @ w.astype(ml_dtypes.bfloat16).astype(np.float64)
    assert np.abs(got - expected).max() <= 2e-6 * np.abs(expected).max()


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_models_of_halves_keep_their_weights(name: str, element: str) -> None:
    """In every mode, as no value changes: what is rounded is the result alone. SSE cannot widen f16."""
    x, w = data(element, 1, 130), data(element, 130, 77)
    proto = model(x, w, element)
    for numerics in ("strict", "default"):
        assert narrow(proto, name + SMALL, numerics) == ((name, element) != ("x86-64", "f16"))
    check(mlc.compile(proto, target=name + SMALL).run({"x": x})["y"], x, w, element)


@emulated.needed
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_on_aarch64(element: str, tmp_path: Path) -> None:
    x, w = data(element, 1, 130), data(element, 130, 77)
    proto = model(x, w, element)
    assert narrow(proto, "aarch64" + SMALL, "default")
    like = {"y": np.zeros((1, 77), x.dtype)}
    got = emulated.Emulated(proto, tmp_path, target="aarch64" + SMALL).run({"x": x}, like, threads=1)
    check(got["y"], x, w, element)


def check(got: Array, x: Array, w: Array, element: str) -> None:
    """The result is the exact one, rounded once."""
    expected = x.astype(np.float64) @ w.astype(np.float64)
    step = 2**-8 if element == "bf16" else 2**-11
    bound = step * np.abs(expected) + 2e-6 * np.abs(expected).max()
    assert (np.abs(got.astype(np.float64) - expected) <= bound).all()


def test_what_is_read_as_it_is() -> None:
    """Many rows, weights that the cache holds, and products that multiply pairs."""
    w = data("f32", 130, 77)
    assert not narrow(model(data("f32", 9, 130), w, "f32"), "x86-64-v4" + SMALL, "relaxed")
    assert not narrow(model(data("f32", 1, 130), w, "f32"), "x86-64-v4", "relaxed")
    assert not narrow(model(data("f32", 1, 130), w, "f32"), "x86-64-v4:avx512bf16,l3=16K", "relaxed")
