"""docs/howto/add-a-target.md runs as written: its CPU compiles a model, whose schedules follow from the facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc import target as targets
from mlc.target.named import NAMED

PAGE = Path(__file__).parents[4] / "docs" / "howto" / "add-a-target.md"
RANDOM = np.random.default_rng(3)
WEIGHT = RANDOM.standard_normal((32, 24)).astype(np.float32)


@pytest.fixture
def tiny() -> Iterator[targets.CpuTarget]:
    """The target that the page makes; it goes with the test."""
    before = set(NAMED)
    space: dict[str, object] = {}
    try:
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
            exec(compile(block, str(PAGE), "exec"), space)
        yield targets.get("tiny")
    finally:
        for name in set(NAMED) - before:
            del NAMED[name]


def network(path: Path) -> Path:
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in
            (("x", (40, 32)), ("y", (40, 24)))]  # fmt: skip
    graph = helper.make_graph([node], "net", ends[:1], ends[1:], [numpy_helper.from_array(WEIGHT, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_a_model_for_the_target_of_the_page(tiny: targets.CpuTarget, tmp_path: Path) -> None:
    assert "tiny" in targets.names()
    if tiny.arch != targets.get("cpu").arch:
        pytest.skip(f"the page's target is for {tiny.arch}")
    net = mlc.compile(network(tmp_path / "net.onnx"), target="tiny")
    assert net.signature["target"] == "tiny" and net.signature["isa"] == []
    (schedule,) = {kernel["schedule"] for kernel in net.signature["kernels"]}
    assert re.search(r"\bm/2\b|m/2\*20", schedule) and "n/8v" in schedule  # 2 rows of 2 vectors of 4 lanes
    x = RANDOM.standard_normal((40, 32)).astype(np.float32)
    np.testing.assert_allclose(net.run({"x": x})["y"], x @ WEIGHT, atol=1e-4)
