"""Attributions beside formulas in NumPy, their axioms, and the same for a module and for the ONNX model of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import mlc
import mlc.numpy as mnp
from mlc import attribution, nn
from mlc.errors import InputError

Known = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def network() -> nn.Sequential:
    nn.manual_seed(0)
    first = (nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(3, 4, 2), nn.ReLU())
    return nn.Sequential(nn.Sequential(*first), nn.Flatten(), nn.Linear(16, 3)).eval()


@pytest.fixture(scope="module")
def images() -> Known:
    return np.random.default_rng().uniform(-1, 1, (3, 1, 8, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def model(network: nn.Sequential, images: Known) -> onnx.ModelProto:
    return onnx_network(network.state_dict())


def onnx_network(state: dict[str, Any]) -> onnx.ModelProto:
    """The network as an ONNX model of operators that a framework would write."""
    from onnx import TensorProto, helper, numpy_helper

    weights = {name: np.asarray(value) for name, value in state.items()}
    nodes = [
        helper.make_node("Conv", ["x", "0.0.weight", "0.0.bias"], ["c1"]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "0.3.weight", "0.3.bias"], ["c2"]),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("Flatten", ["r2"], ["flat"]),
        helper.make_node("Gemm", ["flat", "2.weight", "2.bias"], ["y"], transB=1),
    ]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [numpy_helper.from_array(w, name) for name, w in weights.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def quadratic(x: Any) -> Any:
    """Scores ``(x0² + x1, x0 x1)`` of inputs [n, 2]."""
    x = mnp.asarray(x)
    return mnp.stack([x[:, 0] ** 2 + x[:, 1], x[:, 0] * x[:, 1]], axis=1)


def test_gradients_of_a_formula() -> None:
    x = np.array([[2.0, 3.0], [-1.0, 0.5]])
    np.testing.assert_allclose(attribution.saliency(quadratic, x, 0), [[4, 1], [2, 1]])
    np.testing.assert_allclose(attribution.saliency(quadratic, x, [0, 1], absolute=False), [[4, 1], [0.5, -1]])
    np.testing.assert_allclose(attribution.input_x_gradient(quadratic, x, 1), [[6, 6], [-0.5, -0.5]])
    np.testing.assert_allclose(attribution.saliency(quadratic, x), [[4, 1], [2, 1]])  # classes 0 have most
    np.testing.assert_allclose(attribution.saliency(lambda x: mnp.sum(mnp.asarray(x) ** 3, axis=1), x), 3 * x * x)


def test_integrated_gradients_of_a_formula() -> None:
    """Of ``x0 x1`` from 0: half of the product each; from ``b`` exactly what the path gives."""
    x = np.array([[2.0, 3.0], [-1.0, 0.5]])
    found = mlc.jit(lambda x: attribution.integrated_gradients(quadratic, x, 1, steps=8))(x)
    np.testing.assert_allclose(found, np.stack([x.prod(1) / 2] * 2, axis=1), rtol=1e-12)
    start = np.array([1.0, -1.0])
    other = attribution.integrated_gradients(quadratic, x, 1, baseline=start, steps=8)
    wanted = (x - start) * (x + start)[:, ::-1] / 2
    np.testing.assert_allclose(other, wanted, rtol=1e-12)


def test_integrated_gradients_add_up(network: nn.Sequential, images: Known) -> None:
    labels = np.array([0, 1, 2])
    found = mlc.jit(lambda x: attribution.integrated_gradients(network, x, labels, steps=200))(images)
    rise = np.asarray(network(images) - network(images * 0))[np.arange(3), labels]
    np.testing.assert_allclose(np.asarray(found).sum((1, 2, 3)), rise, rtol=0.02, atol=5e-3)


def test_smooth_gradients() -> None:
    """Of a linear function they are its gradient; of a square with noise the mean of ``2 (x + noise)``."""
    x = np.array([[2.0, 3.0]])
    key = mnp.random.key(0)
    found = attribution.smooth_grad(lambda x: x @ np.array([1.0, -2.0]), x, key=key)
    np.testing.assert_allclose(found, [[1, -2]])
    noisy = mlc.jit(lambda x, k: attribution.smooth_grad(quadratic, x, 0, key=k, samples=400, deviation=0.5))(x, key)
    assert 0 < abs(float(noisy[0, 0]) - 4) < 0.2 and abs(float(noisy[0, 1]) - 1) < 1e-12
    absolute = attribution.smooth_grad(quadratic, x, 0, key=key, samples=5, absolute=True)
    assert np.all(np.asarray(absolute) >= 0)


def occluded(f: Any, x: Known, label: int, window: tuple[int, int], stride: int) -> Known:
    """Windows one at a time."""
    total, count = np.zeros_like(x), np.zeros_like(x)
    base = np.asarray(f(x))[:, label]
    height, width = x.shape[2:]
    for r in range(0, height - window[0] + stride, stride):
        for c in range(0, width - window[1] + stride, stride):
            covered = x.copy()
            covered[:, :, r : r + window[0], c : c + window[1]] = 0
            lost = base - np.asarray(f(covered))[:, label]
            total[:, :, r : r + window[0], c : c + window[1]] += lost[:, None, None, None]
            count[:, :, r : r + window[0], c : c + window[1]] += 1
    return total / count


def test_occlusion(network: nn.Sequential, images: Known) -> None:
    found = mlc.jit(lambda x: attribution.occlusion(network, x, 1, window=(1, 3, 4), strides=(1, 2, 2)))(images)
    np.testing.assert_allclose(found, occluded(network, images, 1, (3, 4), 2), rtol=1e-4, atol=1e-6)


def test_grad_cam_of_a_module_and_of_its_model(network: nn.Sequential, images: Known, model: Any) -> None:
    found = attribution.grad_cam(network, images, 2, layer="0.3")
    assert found.shape == (3, 1, 2, 2)
    features = network[0]
    head = lambda maps: network[2](network[1](nn.relu(maps)))  # noqa: E731
    maps = np.asarray(features[3](features[2](features[1](features[0](mnp.asarray(images))))))
    slopes = np.asarray(mlc.grad(lambda m: mnp.sum(head(m)[:, 2]))(maps))
    wanted = np.maximum((slopes.mean((2, 3), keepdims=True) * maps).sum(1, keepdims=True), 0)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(attribution.grad_cam(model, images, 2, layer="c2"), wanted, rtol=1e-4, atol=1e-6)
    jitted = mlc.jit(lambda x: attribution.grad_cam(network, x, 2, layer="0.3"))(images)
    np.testing.assert_allclose(jitted, wanted, rtol=1e-4, atol=1e-6)
    assert attribution.upsampled(found, (8, 8)).shape == (3, 1, 8, 8)


def lrp_of_dense(x: Known, layers: list[tuple[Known, Known]], label: int) -> Known:
    """The ε-rule by its sum, for linear layers with rectifiers between them."""
    values = [x]
    for n, (w, b) in enumerate(layers):
        z = values[-1] @ w.T + b
        values.append(np.maximum(z, 0) if n < len(layers) - 1 else z)
    relevance = np.zeros_like(values[-1])
    relevance[:, label] = values[-1][:, label]
    for (w, b), before in zip(reversed(layers), reversed(values[:-1]), strict=True):
        parts = before[:, None, :] * w[None]
        total = parts.sum(2) + b
        relevance = np.einsum("nji,nj->ni", parts, relevance / (total + 1e-9 * np.where(total >= 0, 1, -1)))
    return relevance


def test_relevance_of_dense_layers() -> None:
    rng = np.random.default_rng()
    shapes = [(5, 4), (6, 5), (3, 6)]
    layers = [(rng.standard_normal(s).astype(np.float32), rng.standard_normal(s[0]).astype(np.float32)) for s in shapes]
    modules = []
    for n, (w, b) in enumerate(layers):
        linear = nn.Linear(w.shape[1], w.shape[0]).load_state_dict({"weight": w, "bias": b})
        modules += [linear, nn.ReLU()] if n < 2 else [linear]
    x = rng.standard_normal((4, 4)).astype(np.float32)
    found = attribution.layer_relevance(nn.Sequential(*modules).eval(), x, 1)
    wanted = lrp_of_dense(x.astype(np.float64), [(w.astype(np.float64), b) for w, b in layers], 1)
    np.testing.assert_allclose(found, wanted, rtol=2e-2, atol=1e-3)


def test_relevance_of_a_module_and_of_its_model(network: nn.Sequential, images: Known, model: Any) -> None:
    labels = np.array([0, 1, 2])
    found = mlc.jit(lambda x: attribution.layer_relevance(network, x, labels, epsilon=1e-3))(images)
    by_model = attribution.layer_relevance(model, images, labels, epsilon=1e-3)
    np.testing.assert_allclose(by_model, found, rtol=1e-3, atol=1e-5)


def test_relevance_is_kept_without_biases(images: Known) -> None:
    """It adds up to the score where nothing goes to biases; also over a residual connection."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng()
    w1, w2 = rng.standard_normal((6, 6)).astype(np.float32), rng.standard_normal((6, 2)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Add", ["r", "x"], ["s"]),
        helper.make_node("MatMul", ["s", "w2"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "residual", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])],
        [numpy_helper.from_array(w1, "w1"), numpy_helper.from_array(w2, "w2")],
    )  # fmt: skip
    x = rng.uniform(0.5, 1, (5, 6)).astype(np.float32)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    found = np.asarray(attribution.layer_relevance(model, x, 0))
    score = (np.maximum(x @ w1, 0) + x) @ w2[:, 0]
    np.testing.assert_allclose(found.sum(1), score, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("call, says", [
    (lambda n, x: attribution.saliency(lambda x: mnp.asarray(x), x), "no score of each example"),
    (lambda n, x: attribution.occlusion(n, x, window=(3, 3)), "does not fit examples"),
    (lambda n, x: attribution.grad_cam(n, x, layer="0.9"), "no layer '0.9'"),
    (lambda n, x: attribution.grad_cam(n, x, layer="2"), "weighs channels"),
    (lambda n, x: attribution.grad_cam(lambda x: x, x, layer="2"), "no layers by name"),
    (lambda n, x: attribution.layer_relevance(lambda x: x, x), "not propagated through"),
    (lambda n, x: attribution.smooth_grad(n, x, 0, key=mnp.random.key(0), samples=0), "0 samples"),
])  # fmt: skip
def test_what_is_refused(network: nn.Sequential, images: Known, call: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call(network, images)
