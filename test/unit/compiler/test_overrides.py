"""Inputs of a model that have an initializer: their values are compiled in, unless a session's run gives others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import mlc
import mlc.onnxruntime as ort
from mlc.cli import main
from mlc.errors import RunError

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((3, 4)).astype(np.float32)


def model(ir_version: int = 9) -> ModelProto:
    """y = Reshape(x * scale + shift, shape), in which scale and shape are inputs with an initializer."""
    value, tensor = helper.make_tensor_value_info, numpy_helper.from_array
    weights = [
        tensor(np.float32([2, 3, 4, 5]), "scale"), tensor(np.float32(1), "shift"), tensor(np.int64([4, -1]), "shape"),
    ]  # fmt: skip
    inputs = [value("x", TensorProto.FLOAT, ["n", 4]), value("scale", TensorProto.FLOAT, [4])]
    if ir_version < 4:
        inputs.append(value("shift", TensorProto.FLOAT, []))
    inputs.append(value("shape", TensorProto.INT64, [2]))
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["a"]),
        helper.make_node("Add", ["a", "shift"], ["b"]),
        helper.make_node("Reshape", ["b", "shape"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [value("y", TensorProto.FLOAT, ["r", "c"])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=ir_version)


FEEDS = [
    {},
    {"scale": RANDOM.standard_normal(4).astype(np.float32)},
    {"shape": np.int64([2, 6])},
    {"scale": RANDOM.standard_normal(4).astype(np.float32), "shape": np.int64([-1, 3])},
]


@pytest.mark.filterwarnings("ignore:mlc compiles the model again")
def test_a_session_takes_other_values_as_onnxruntime_does() -> None:
    ours, theirs = ort.InferenceSession(model().SerializeToString()), reference(model())
    for feed in (*FEEDS, *FEEDS):
        given = {"x": X, **feed}
        (expected,) = theirs.run(None, given)
        np.testing.assert_allclose(ours.run(None, given)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("ir_version", [3, 9])
def test_the_session_says_which_have_other_values(ir_version: int) -> None:
    ours, theirs = ort.InferenceSession(model(ir_version).SerializeToString()), reference(model(ir_version))

    def shown(args: list[object]) -> list[tuple[object, ...]]:
        return sorted((a.name, a.shape, a.type) for a in args)  # type: ignore[attr-defined]

    assert shown(ours.get_inputs()) == shown(theirs.get_inputs())
    assert shown(ours.get_overridable_initializers()) == shown(theirs.get_overridable_initializers())


def reference(proto: ModelProto) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])


def test_a_model_says_that_they_are_fixed() -> None:
    with mlc.compile(model()) as net:
        assert list(net.inputs) == ["x"] and net.signature["fixed"] == ["scale", "shape"]
        with pytest.raises(RunError, match="values of 'scale' are compiled in: delete the initializer"):
            net(X, scale=np.ones(4, np.float32))
    with mlc.compile(model(3)) as net:  # whose initializers are inputs by rule
        assert "fixed" not in net.signature


def test_the_command_line_says_that_they_are_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model(), tmp_path / "net.onnx")
    for command in (["compile", "-o", str(tmp_path / "net.so")], ["inspect"]):
        with pytest.raises(SystemExit, match="0"):
            main([command[0], str(tmp_path / "net.onnx"), *command[1:]])
    said = capsys.readouterr()
    assert "inputs with a value are fixed to it: scale, shape; delete" in said.err
    assert "fixed      scale, shape" in said.out
