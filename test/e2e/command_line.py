"""The command line on a small network with an open batch dimension: fixtures for the tests of its subcommands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from runtime_objects import copied

from mlc.cli import main

Command = Callable[..., str]
RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((3, 20)).astype(np.float32)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """x[batch, 20] -> Gemm -> Relu -> MatMul -> Softmax -> y[batch, 7]."""
    arrays = {"w1": (20, 33), "b1": (33,), "w2": (33, 7)}
    weights = [numpy_helper.from_array(RANDOM.standard_normal(s).astype(np.float32), n) for n, s in arrays.items()]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="first"),
        helper.make_node("Relu", ["h"], ["r"], name="act"),
        helper.make_node("MatMul", ["r", "w2"], ["z"], name="second"),
        helper.make_node("Softmax", ["z"], ["y"], name="soft", axis=-1),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 20])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 7])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    path = tmp_path_factory.mktemp("model") / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def command_cache(tmp_path_factory: pytest.TempPathFactory, runtime_objects: Path) -> object:
    """One cache for the tests of a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLC_CACHE_DIR", str(copied(runtime_objects, tmp_path_factory.mktemp("command") / "cache")))
        patch.delenv("MLC_DEBUG", raising=False)
        yield


@pytest.fixture
def mlc_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command_cache: object
) -> Command:
    """Run the command line in an empty folder; returns what it printed, for ``code`` other than 0 on stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path, code: int = 0) -> str:
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert (caught.value.code or 0) == code, output.err
        return output.err if code else output.out

    return run


def expected(model: Path, x: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def close(actual: np.ndarray, wanted: np.ndarray) -> bool:
    return actual.shape == wanted.shape and bool(np.abs(actual - wanted).max() <= 1e-5 * np.abs(wanted).max())
