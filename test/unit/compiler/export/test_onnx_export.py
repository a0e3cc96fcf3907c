"""Exported models in onnxruntime, beside what was exported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import mlc
import mlc.numpy as mnp
from benchmarks import models
from mlc import nn
from mlc.driver.compile import lower_source
from mlc.driver.sources import source_of
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.options import Options


def data(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def run(model: onnx.ModelProto, *arrays: Any) -> Any:
    """The outputs by onnxruntime."""
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {x.name: a for x, a in zip(session.get_inputs(), arrays, strict=True)})


def check(f: Any, *arrays: Any) -> None:
    expected = [y.numpy() for y in trees.leaves(f(*map(mnp.asarray, arrays)))]
    for found, wanted in zip(run(mlc.export_onnx(f, *arrays), *arrays), expected, strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-6 * max(1, np.abs(wanted).max(initial=0)))


MODULES: dict[str, tuple[Any, ...]] = {
    "Linear": (lambda: nn.Linear(3, 4), (2, 3)),
    "Conv1d": (lambda: nn.Conv1d(3, 4, 3, padding=1), (2, 3, 8)),
    "Conv2d": (lambda: nn.Conv2d(4, 6, 3, stride=2, groups=2), (2, 4, 8, 8)),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 3), (1, 2, 5, 5, 5)),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(3, 4, 3, stride=2), (2, 3, 8)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1), (2, 3, 6, 6)),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(2, 3, 3), (1, 2, 4, 4, 4)),
    "BatchNorm": (lambda: nn.BatchNorm(4).eval(), (2, 4, 5, 5)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (2, 4, 5, 5)),
    "LayerNorm": (lambda: nn.LayerNorm(4), (2, 4)),
    "RMSNorm": (lambda: nn.RMSNorm(4), (2, 4)),
    "GRU": (lambda: nn.GRU(3, 4), (5, 2, 3)),
    "LSTM": (lambda: nn.LSTM(3, 4, bidirectional=True), (5, 2, 3)),
    "RNN": (lambda: nn.RNN(3, 4), (5, 2, 3)),
    "GRUCell": (lambda: nn.GRUCell(3, 4), (2, 3)),
    "LSTMCell": (lambda: nn.LSTMCell(3, 4), (2, 3)),
    "RNNCell": (lambda: nn.RNNCell(3, 4), (2, 3)),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(8, 2), (2, 5, 8), (2, 5, 8), (2, 5, 8)),
    "Dropout": (lambda: nn.Dropout().eval(), (2, 3)),
    "Flatten": (lambda: nn.Flatten(), (2, 3, 4)),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, 2, 1), (2, 3, 8, 8)),
    "AvgPool2d": (lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False), (2, 3, 8, 8)),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(4), (2, 4, 5, 5)),
    "Upsample": (lambda: nn.Upsample(2, "bilinear"), (1, 2, 4, 5)),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), (1, 8, 4, 5)),
    "PReLU": (lambda: nn.PReLU(4), (2, 4, 5, 5)),
    "Identity": (lambda: nn.Identity(), (2, 3)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    make, *shapes = MODULES[name]
    check(make(), *(data(*shape) for shape in shapes))


def test_embeddings() -> None:
    check(nn.Embedding(5, 4, padding_idx=0), np.array([[0, 4, -1], [2, 2, 0]]))


FUNCTIONS: dict[str, Any] = {
    "activations": lambda x: [nn.silu(x), nn.elu(x), nn.softplus(x), nn.gelu(x), nn.mish(x), nn.log_softmax(x)],
    "elementwise": lambda x: [x % 0.7, x // 0.3, mnp.arctan2(x, x + 1), mnp.expm1(x / 9), mnp.log1p(abs(x) / 99),
                              mnp.trunc(x), mnp.sign(x), mnp.isnan(x), mnp.log2(abs(x)), mnp.where(x > 0, x, 0)],
    "integers": lambda x: [n // 3 for n in [mnp.astype(x * 9, "int64")]] + [mnp.astype(x * 9, "int32") % 4 & 5],
    "reductions": lambda x: [mnp.sum(x), mnp.max(x, axis=1), mnp.prod(x), mnp.any(x > 0, axis=1), mnp.all(x > -9),
                             mnp.var(x, axis=0), mnp.argmax(x, axis=1)],
    "movement": lambda x: [x[::-1], x[:, ::-2], mnp.pad(x, 1), mnp.roll(x, 1), mnp.flip(x), mnp.tril(x), x.T,
                           mnp.repeat(x, 2, axis=1), mnp.concat([x, x]), mnp.take(x, np.array([1, 0]), axis=1)],
    "sorting": lambda x: [mnp.sort(x), mnp.argsort(x, axis=0), mnp.cumsum(x, axis=0)],
    "products": lambda x: [x @ x.T, mnp.einsum("ij,kj->ik", x, x), mnp.tensordot(x, x, 2), mnp.outer(x[0], x[1])],
    "cond": lambda x: mlc.cond(mnp.sum(x) > 0, lambda: x * 2, lambda: x - 1),
    "while": lambda x: mlc.while_loop(lambda s: mnp.sum(s) < 100, lambda s: s * 2 + 1, abs(x)),
    "scan": lambda x: mlc.scan(lambda s, v: (s * 0.5 + v, s + v), x[0], x, reverse=True),
    "fori": lambda x: mlc.fori_loop(0, 5, lambda i, s: s + x * i, x),
    "random": lambda x: mnp.random.normal(mnp.random.key(0), (3, 4)) + x,
    "gradient": mlc.grad(lambda x: mnp.sum(nn.relu(x @ x.T) ** 2)),
    "pools": lambda x: [nn.max_pool(x[None, None], 2), nn.avg_pool(x[None, None], 2)],
    "scatter": lambda x: mlc.grad(lambda w: mnp.sum(nn.embedding(np.array([1, 2, 2]), w) * x[:3]))(mnp.ones((5, 4))),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    check(FUNCTIONS[name], data(3, 4))


def test_float64_and_a_step_of_training() -> None:
    check(lambda x: mnp.sin(x) @ x, np.random.default_rng().standard_normal((3, 3)))

    def step(w: Any, x: Any, y: Any) -> Any:
        value, g = mlc.value_and_grad(lambda w: mnp.mean((nn.relu(x @ w) - y) ** 2))(w)
        return w - 0.1 * g, value

    check(step, data(3, 2), data(5, 3), data(5, 2))


def test_open_dimensions_are_kept() -> None:
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm(8), nn.relu, nn.Flatten(), nn.Linear(128, 4)).eval()
    model = mlc.export_onnx(net, data(2, 3, 4, 4), dims={"x": ("batch", 3, 4, 4)})
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    x = data(5, 3, 4, 4)
    np.testing.assert_allclose(run(model, x)[0], net(x).numpy(), rtol=1e-5, atol=1e-5)


def test_open_dimensions_of_loops_and_attention() -> None:
    attention, lstm = nn.MultiheadAttention(8, 2), nn.LSTM(3, 4)
    model = mlc.export_onnx(lambda x: attention(x, x, x)[0], data(2, 5, 8), dims={"x": {0: "batch", 1: "time"}})
    x = data(3, 7, 8)
    np.testing.assert_allclose(run(model, x)[0], attention(x, x, x)[0].numpy(), rtol=1e-5, atol=1e-5)
    model = mlc.export_onnx(lstm, data(5, 2, 3), dims={"x": ("time", "batch", 3)})
    x = data(9, 3, 3)
    np.testing.assert_allclose(run(model, x)[0], lstm(x)[0].numpy(), rtol=1e-5, atol=1e-5)


def kernels(model: onnx.ModelProto) -> list[list[str]]:
    """Operators and types of each kernel."""
    text = str(lower_source(source_of(model), Options(), until="fuse").module)
    text = re.sub(r'graph.weight "[^"]*"|graph.node = \[[^\]]*\]', "", text)
    text = re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: str(np.float32(number.group())), text)
    return [re.findall(r'graph\.\w+ ?"?[^"%]*"?|tensor<[^>]*>', each) for each in text.split("kernel.func")[1:]]


@pytest.mark.parametrize("name", ["mlp", "squeezenet"])
def test_a_round_trip_gives_the_same_kernels(name: str) -> None:
    model = models.build(name)
    made = mlc.export_onnx(model)
    assert kernels(made) == kernels(model)


def test_a_transposed_convolution_of_a_model() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 17]>
        net (float[1, 2, 5, 4] x, float[2, 3, 4, 3] w) => (float[1, 3, H, W] y)
        { y = ConvTranspose<strides = [2, 3], pads = [1, 0, 0, 1]>(x, w) }""")
    x, w = data(1, 2, 5, 4), data(2, 3, 4, 3)
    np.testing.assert_allclose(run(mlc.export_onnx(model), x, w)[0], run(model, x, w)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("given, says", [
    ((lambda x: x,), "without example arguments"),
    ((lambda x: mnp.linalg.solve(x, x), np.eye(3, dtype=np.float32)), "graph.lu has no form in ONNX"),
    ((lambda x: x, np.ones(3)), None),
])  # fmt: skip
def test_refused(given: Any, says: str | None) -> None:
    if says is None:
        given, says = (*given, {"y": ("n",)}), "dims has 'y', which is no parameter"
        with pytest.raises(InputError, match=says):
            mlc.export_onnx(given[0], given[1], dims=given[2])
        return
    with pytest.raises(InputError, match=says):
        mlc.export_onnx(*given)


def test_a_file_and_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLC_CFLAGS", "-O0")
    net, x = nn.Linear(3, 2), data(4, 3)
    mlc.export_onnx(net, x, path=tmp_path / "net.onnx")
    np.testing.assert_allclose(run(onnx.load(tmp_path / "net.onnx"), x)[0], net(x).numpy(), rtol=1e-5, atol=1e-6)
    net.save(tmp_path / "my-net.so", x, dims={"x": ("batch", 3)})
    assert "my_net_create" in (tmp_path / "my-net.h").read_text()
    with mlc.load(tmp_path / "my-net.so") as model:
        np.testing.assert_allclose(model(x[:2]), net(x[:2]).numpy(), rtol=1e-5, atol=1e-6)
    mlc.jit(lambda x: x + 1).save(tmp_path / "more.so", x)
    assert "more_create" in (tmp_path / "more.h").read_text()


def test_a_program_of_torch() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten()).eval()
    x = data(2, 3, 5, 5)
    model = mlc.export_onnx(torch.export.export(net, (torch.tensor(x),)))
    np.testing.assert_allclose(run(model, x)[0], net(torch.tensor(x)).detach().numpy(), rtol=1e-5, atol=1e-5)
