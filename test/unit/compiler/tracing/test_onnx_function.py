"""``mlc.function``: ONNX models as functions on arrays, and their gradients against NumPy's and torch's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
import mlc.numpy as mnp
from benchmarks import models
from benchmarks.models import random_inputs, small
from mlc.errors import InputError

RNG = np.random.default_rng(44)
W, B = RNG.normal(size=(3, 2)).astype("f4"), RNG.normal(size=2).astype("f4")
X = RNG.normal(size=(5, 3)).astype("f4")


@pytest.fixture(scope="module")
def layer() -> onnx.ModelProto:
    """tanh(x @ w + b), twice its sum, and the number of rows."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["y"]),
        helper.make_node("Tanh", ["y"], ["z"]),
        helper.make_node("Mul", ["z", "two"], ["doubled"]),
        helper.make_node("Shape", ["x"], ["shape"]),
    ]
    graph = helper.make_graph(
        nodes, "layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 3])],
        [helper.make_tensor_value_info("doubled", TensorProto.FLOAT, ["rows", 2]),
         helper.make_tensor_value_info("shape", TensorProto.INT64, [2])],
        [numpy_helper.from_array(W, "w"), numpy_helper.from_array(B, "b"),
         numpy_helper.from_array(np.float32(2), "two")],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_values_and_gradients(layer: onnx.ModelProto, tmp_path: Path) -> None:
    onnx.save(layer, tmp_path / "layer.onnx")
    f = mlc.function(tmp_path / "layer.onnx")
    assert (f.inputs, list(f.weights)) == (["x"], ["w", "b"])
    value, shape = f(X)
    expected = np.tanh(X @ W + B)
    np.testing.assert_allclose(np.asarray(value), 2 * expected, rtol=1e-5)
    np.testing.assert_array_equal(np.asarray(shape), [5, 3])
    slope = 2 * (1 - expected**2)
    by_w, by_x = mlc.grad(lambda w, x: mnp.sum(f(x, weights=w)[0]), (0, 1))(f.weights, X)
    np.testing.assert_allclose(np.asarray(by_w["w"]), X.T @ slope, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(by_w["b"]), slope.sum(0), rtol=1e-4)
    np.testing.assert_allclose(np.asarray(by_x), slope @ W.T, rtol=1e-4)
    each = mlc.vmap(mlc.grad(lambda x: mnp.sum(f(x[None])[0])))(X)
    np.testing.assert_allclose(np.asarray(each), slope @ W.T, rtol=1e-4)


def test_compiled_with_open_dimensions(layer: onnx.ModelProto) -> None:
    f = mlc.function(layer)

    @mlc.jit(shapes={"x": ("count", 3)})
    def gradient(b: Any, x: Any) -> Any:
        return mlc.grad(lambda b: mnp.sum(f(x, weights={"b": b})[0]))(b)

    for rows in (5, 2):
        slope = 2 * (1 - np.tanh(X[:rows] @ W + B) ** 2)
        np.testing.assert_allclose(np.asarray(gradient(B, X[:rows])), slope.sum(0), rtol=1e-4)
    assert mlc.explain(gradient).count("\n") == 0


@pytest.mark.parametrize("name", ["mlp_tiny", "lstm", "bert"])
def test_gradients_of_benchmark_models(name: str) -> None:
    """By every weight, against torch's; relative to the greatest element of all gradients."""
    torch = pytest.importorskip("torch")
    from benchmarks.torch_graph import OnnxModule

    options = {**small.OPTIONS[name], **({"layers": 1, "tokens": 7} if name == "bert" else {})}
    model = models.build(name, batch=2, **options)
    f, inputs = mlc.function(model), random_inputs(model, RNG)

    def total(ys: Any, sin: Any, sum_: Any) -> Any:
        return sum(sum_(sin(y)) for y in (ys if isinstance(ys, tuple) else (ys,)))

    xs = [inputs[each] for each in f.inputs]
    found = mlc.grad(lambda w: total(f(*xs, weights=w), mnp.sin, mnp.sum))(f.weights)
    peer = OnnxModule(model)
    for weight in f.weights:
        peer._constants[weight].requires_grad_(True)
    total(peer([torch.from_numpy(x) for x in xs]), torch.sin, torch.sum).backward()
    wanted = {weight: peer._constants[weight].grad.numpy() for weight in f.weights}
    scale = max(np.abs(each).max() for each in wanted.values())
    assert scale > 1e-3
    for weight, expected in wanted.items():
        np.testing.assert_allclose(np.asarray(found[weight]), expected, rtol=0, atol=1e-4 * scale, err_msg=weight)


def test_refusals(layer: onnx.ModelProto) -> None:
    f = mlc.function(layer)
    with pytest.raises(InputError, match="layer has no weight v. Its weights are in f.weights"):
        f(X, weights={"v": W})
    with pytest.raises(InputError, match="layer takes x, not 2 arrays"):
        f(X, X)
    with pytest.raises(InputError, match=r"layer was given float32\[5, 2\] in place of float32\[rows, 3\]"):
        f(X[:, :2])
    with pytest.raises(InputError, match="Cannot read the model 'none.onnx': No such file"):
        mlc.function("none.onnx")


def test_damaged_data_is_refused(layer: onnx.ModelProto, tmp_path: Path) -> None:
    """Also data in files beside a model, wherever they are said to be."""
    model = onnx.ModelProto.FromString(layer.SerializeToString())
    tensor = model.graph.initializer[0]
    tensor.raw_data += b"12"
    with pytest.raises(InputError, match="Tensor 'w' of shape .* wrong length"):
        mlc.function(model)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for location, what in (("../w", "not a path inside"), ("a\0b", "cannot be the name"), ("w", "is not there")):
        del tensor.external_data[:]
        tensor.external_data.add(key="location", value=location)
        (tmp_path / "layer.onnx").write_bytes(model.SerializeToString())
        with pytest.raises(InputError, match=what):
            mlc.function(tmp_path / "layer.onnx")


def test_data_in_a_file_beside_the_model(layer: onnx.ModelProto, tmp_path: Path) -> None:
    wanted = mlc.function(layer)
    path = tmp_path / "layer.onnx"
    onnx.save(onnx.ModelProto.FromString(layer.SerializeToString()), path, save_as_external_data=True, size_threshold=0)
    found = mlc.function(path)
    assert found.weights.keys() == wanted.weights.keys()
    for name, weight in wanted.weights.items():
        np.testing.assert_array_equal(np.asarray(found.weights[name]), np.asarray(weight))
