"""mlc.compile(wait=False): the interpreter answers until the compiled model is there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import mlc
from mlc import api
from mlc.tracing import background

NETWORK = """
<ir_version: 9, opset_import: ["" : 18]>
network (float[n, 4] x, float[4, 3] w) => (float[n, 3] y, int64[1] rows) {
  p = MatMul(x, w)
  y = Softmax<axis = -1>(p)
  rows = Shape<start = 0, end = 1>(y)
}"""
RANDOM = """
<ir_version: 9, opset_import: ["" : 18]>
network (float[n] x) => (float[n] y) {
  y = RandomUniformLike(x)
}"""
GUARDED = """
<ir_version: 9, opset_import: ["" : 18]>
network (float[n] x) => (float[half, 2] y) <int64[2] shape = {-1, 2}> {
  y = Reshape(x, shape)
}"""


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[threading.Event]:
    """An event that compilations in the background wait for."""
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path))
    go, submit = threading.Event(), background.submit
    monkeypatch.setattr(background, "submit", lambda work: submit(lambda: go.wait(60) and work()))
    yield go
    go.set()


def test_calls_before_and_after(held: threading.Event, tmp_path: Path) -> None:
    net = mlc.compile(onnx.parser.parse_model(NETWORK), wait=False)
    assert {n: str(s) for n, s in net.inputs.items()} == {"x": "float32[n, 4]", "w": "float32[4, 3]"}
    random = np.random.default_rng()
    x, w = random.standard_normal((5, 4), np.float32), random.standard_normal((4, 3), np.float32)
    early = [net(x, w), net(x, w=w), tuple(net.run({"x": x, "w": w}).values())]
    assert not net.done() and "being compiled" in repr(net)
    held.set()
    model = net.result()
    expected = np.exp((x @ w).astype(np.float64))
    expected /= expected.sum(-1, keepdims=True)
    for y, rows in [*early, net(x, w), model(x, w)]:
        np.testing.assert_allclose(y, expected, rtol=1e-5)
        assert rows.tolist() == [5]
    assert net.dims == model.dims and net.path == model.path
    with pytest.raises(AttributeError, match="no 'nothing'"):
        net.nothing  # noqa: B018
    net.save(tmp_path / "net.so")
    np.testing.assert_array_equal(mlc.load(tmp_path / "net.so")(x, w)[0], model(x, w)[0])


@pytest.mark.parametrize("given", [
    {"x": np.zeros((2, 5), np.float32), "w": np.zeros((4, 3), np.float32)}, {"x": np.zeros((2, 4), np.float32)},
    {"x": np.zeros((2, 4)), "w": np.zeros((4, 3), np.float32)},
])  # fmt: skip
def test_what_does_not_fit_waits_for_the_compiled_model(held: threading.Event, given: dict[str, Any]) -> None:
    net = mlc.compile(onnx.parser.parse_model(NETWORK), wait=False)
    threading.Timer(0.1, held.set).start()
    with pytest.raises(mlc.RunError):
        net.run(given)
    assert net.done()


def test_a_model_with_a_guard_is_interpreted_where_it_holds(held: threading.Event) -> None:
    net = mlc.compile(onnx.parser.parse_model(GUARDED), wait=False)
    x = np.random.default_rng().standard_normal(6, np.float32)
    np.testing.assert_array_equal(net(x), x.reshape(3, 2))
    assert not net.done()
    threading.Timer(0.1, held.set).start()
    with pytest.raises(mlc.RunError, match="multiple of 2"):
        net(x[:5])
    assert net.done()


def test_random_numbers_wait_for_the_compiled_model(held: threading.Event) -> None:
    net = mlc.compile(onnx.parser.parse_model(RANDOM), wait=False)
    threading.Timer(0.1, held.set).start()
    first, second = (net(np.zeros(8, np.float32)) for _ in range(2))
    assert net.done() and (first != second).any()


def test_errors(held: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(mlc.InputError, match="NoSuchOperator"):
        mlc.compile(onnx.parser.parse_model(RANDOM.replace("RandomUniformLike", "NoSuchOperator")), wait=False)

    def fail(*_: object) -> None:
        raise mlc.ToolchainError("no compiler")

    monkeypatch.setattr(api, "compile_source", fail)
    net = mlc.compile(onnx.parser.parse_model(NETWORK), wait=False)
    held.set()
    with pytest.raises(mlc.ToolchainError, match="no compiler"):
        net.result()
    with pytest.raises(mlc.ToolchainError, match="no compiler"):
        net(np.zeros((1, 4), np.float32), np.zeros((4, 3), np.float32))
