"""An operator that a user registers is part of the cache key: an edited one gives the new answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import mlc
from mlc.cli import main
from mlc.driver.onnx_source import OnnxSource
from mlc.frontends.onnx import node

OPERATOR = """
from mlc.frontends.onnx.node import onnx_op

POWER = "{power}"

@onnx_op("Power", domain="com.example")
def power(node):
    return node.build.map(POWER, node[0])
"""


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    before = {key: list(versions) for key, versions in node.REGISTRY.items()}
    yield
    node.REGISTRY.clear()
    node.REGISTRY.update(before)


def register(power: str) -> None:
    node.REGISTRY.pop(("com.example", "Power"), None)
    exec(compile(OPERATOR.format(power=power), "operators.py", "exec"), {"__name__": "operators"})


def save(path: Path) -> Path:
    graph = helper.make_graph(
        [helper.make_node("Power", ["x"], ["y"], domain="com.example")], "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [7])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [7])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


def test_an_edited_operator_gives_the_new_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(20261123).standard_normal(7).astype(np.float32)
    model = save(tmp_path / "power.onnx")
    register("x0 * x0")
    np.testing.assert_allclose(mlc.compile(model)(x), x.astype(np.float64) ** 2, rtol=1e-6)
    assert list(OnnxSource.of(model).code()) == ["com.example.Power 1"]
    register("x0 * x0 * x0")
    np.testing.assert_allclose(mlc.compile(model)(x), x.astype(np.float64) ** 3, rtol=1e-6)
    register("x0 * x0")
    for arguments in (["cache", "why", str(model)], ["cache", "list"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert not caught.value.code
    assert "hit" in capsys.readouterr().out


def test_models_without_such_operators_have_none_in_their_key(tmp_path: Path) -> None:
    assert OnnxSource.of(save(tmp_path / "power.onnx")).code() == {}
