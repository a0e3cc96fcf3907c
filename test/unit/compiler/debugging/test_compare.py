"""``mlc.compare`` names the step that is wrong: planted faults in an importer, a pass, a kernel's code, a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.passes import ModulePass

import mlc
from mlc.dialects import rt
from mlc.dialects.graph import MapOp
from mlc.errors import InputError
from mlc.frontends.onnx import node
from mlc.passes.fuse.sink_reshapes import SinkReshapes
from mlc.passes.loops.lower_tiles import LowerTiles
from mlc.passes.plan.verify_plan import VerifyPlan

Array = np.ndarray[Any, Any]
pytest.importorskip("onnxruntime")


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An artifact with a planted fault must not be found by another test."""
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))


def _after(monkeypatch: pytest.MonkeyPatch, kind: type[ModulePass], change: Any) -> None:
    """Let a pass make a mistake."""
    right = kind.apply

    def wrong(self: ModulePass, ctx: Any, module: ModuleOp) -> None:
        right(self, ctx, module)
        change(module)

    monkeypatch.setattr(kind, "apply", wrong)


def test_a_right_model_has_right_steps(network: Path, x: Array) -> None:
    found = mlc.compare(network, {"x": x}, steps=True)
    assert found.right and found.conclusion == "Every output is right." and found.reference == "onnxruntime"
    assert [row.name for row in found.nodes] == ["conv", "relu", "pool", "shape", "concat", "reshape", "gemm"]
    steps = [*found.outputs, *found.nodes, *found.passes, *found.kernels]
    assert all(row.difference is not None and row.difference.right for row in steps)
    assert {n for row in found.kernels for n in row.about.split(", ")} >= {"conv", "relu", "pool", "gemm"}


def test_right_outputs_need_no_steps(network: Path, x: Array) -> None:
    found = mlc.compare(network, {"x": x})
    assert found.right and not (found.nodes or found.passes or found.kernels) and found.sensitivity is None


def test_a_wrong_importer(network: Path, x: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(node.REGISTRY, ("", "Relu"), [(1, lambda n: n.build.map("max(x0, 0.125)", n[0]))])
    found = mlc.compare(network, {"x": x})
    assert [row.name for row in found.nodes if row.wrong] == ["relu"]
    assert not any(row.wrong for row in (*found.passes, *found.kernels)) and "node 'relu' (Relu)" in found.conclusion


def test_a_wrong_pass(network: Path, x: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: ModuleOp) -> None:
        for op in module.walk():
            if isinstance(op, MapOp) and "max" in op.expr.data:
                op.properties["expr"] = StringAttr(op.expr.data.replace("max", "min"))

    _after(monkeypatch, SinkReshapes, change)
    found = mlc.compare(network, {"x": x})
    assert [row.name for row in found.passes if row.wrong][0] == "fuse.sink-reshapes"
    assert not any(row.wrong for row in (*found.nodes, *found.kernels))
    assert "The pass fuse.sink-reshapes changes the outputs" in found.conclusion


def test_wrong_code_of_a_kernel(network: Path, x: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(module: ModuleOp) -> None:
        for op in module.walk():
            if isinstance(op, arith.MaximumfOp | arith.MaxnumfOp):
                op.operands = [op.operands[0], op.operands[0]]

    _after(monkeypatch, LowerTiles, change)
    found = mlc.compare(network, {"x": x})
    wrong = [row for row in found.kernels if row.wrong]
    assert wrong and "relu" in wrong[0].about and not any(row.wrong for row in (*found.nodes, *found.passes))
    assert f"The kernel {wrong[0].name} (nodes {wrong[0].about}) computes other values" in found.conclusion


def test_a_wrong_plan(network: Path, x: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def change(module: ModuleOp) -> None:
        calls.append(1)
        if len(calls) == 1:  # of the model itself, not of its kernels one by one
            for op in module.walk():
                if isinstance(op, rt.BufferOp):
                    op.offset = IntegerAttr(0, 64)

    _after(monkeypatch, VerifyPlan, change)
    found = mlc.compare(network, {"x": x})
    assert not found.right and "put together wrong" in found.conclusion


def test_expected_values_in_place_of_onnxruntime(network: Path, x: Array) -> None:
    y = mlc.compile(network)(x)
    assert mlc.compare(network, {"x": x}, {"y": y}).right
    found = mlc.compare(network, {"x": x}, {"y": y + 1})
    assert not found.right and found.reference == "the expected values" and all(not row.wrong for row in found.kernels)
    with pytest.raises(InputError, match="has no output 'z'"):
        mlc.compare(network, {"x": x}, {"z": y})


def test_rounding_that_the_model_amplifies() -> None:
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        helper.make_node("Mul", ["s", "c"], ["t"]),
        helper.make_node("Sin", ["t"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "chaos",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1000])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
        [helper.make_tensor("c", TensorProto.FLOAT, [], [3e5])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    found = mlc.compare(model, {"x": x}, {"y": np.sin(3e5 * x.astype(np.float64).sum()).astype(np.float32)})
    assert not found.right and found.sensitivity is not None and "amplifies rounding" in found.conclusion


def test_nodes_with_bodies_and_random_ones() -> None:
    branch = [helper.make_node("Mul", ["x", "k"], ["a"])], [helper.make_node("Neg", ["x"], ["b"])]
    bodies = [
        helper.make_graph(nodes, "body", [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
        for nodes, name in zip(branch, "ab", strict=True)
    ]
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("Greater", ["m", "zero"], ["p"]),
        helper.make_node("If", ["p"], ["y"], name="if", then_branch=bodies[0], else_branch=bodies[1]),
        helper.make_node("RandomNormalLike", ["y"], ["z"], name="random"),
    ]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 9]) for name in "xyz"]
    constants = [helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in (("zero", 0), ("k", 3))]
    graph = helper.make_graph(nodes, "bodies", info[:1], info[1:2], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = mlc.compare(model, {"x": np.random.default_rng(1).standard_normal((4, 9)).astype(np.float32)}, steps=True)
    rows = {row.name: row for row in found.nodes}
    assert found.right and rows["if"].difference is not None and rows["if"].difference.right
    assert rows["random"].difference is None and "random" in rows["random"].why
