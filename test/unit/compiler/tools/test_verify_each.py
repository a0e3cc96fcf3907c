"""``--verify-each`` names the pass after which a rule of the module's level does not hold."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from mlc.api import make_options
from mlc.dialects import kernel
from mlc.driver.compile import lower_source
from mlc.driver.instrument import Instrument
from mlc.driver.onnx_source import OnnxSource
from mlc.errors import InternalError
from mlc.tools.verify_each import VerifyEach

PASSES = [
    "graph.canonicalize-graph",
    "layout.pack-weights",
    "fuse.sink-reshapes",
    "fuse.apply-tuned",
    "kernel.count-work",
    "schedule.choose-schedule",
    "tile.tile-kernels",
    "loops.lower-tiles",
    "plan.plan-memory",
]


def model() -> bytes:
    """y = relu(x x) x: two kernels at least."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8]) for name in "xy")
    nodes = [
        helper.make_node("MatMul", ["x", "x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "x"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "net", [x], [y])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return bytes(made.SerializeToString())


def narrow(element: int) -> bytes:
    """y = softmax(f16(cast(x)) w): a product of halves, of which one factor is narrow."""
    x, w, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT16, [64, 64]) for name in "xwy")
    nodes = [
        helper.make_node("Cast", ["x"], ["a"], to=element),
        helper.make_node("Cast", ["a"], ["b"], to=TensorProto.FLOAT16),
        helper.make_node("MatMul", ["b", "w"], ["c"]),
        helper.make_node("Softmax", ["c"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "net", [x, w], [y])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return bytes(made.SerializeToString())


class Break(Instrument):
    """A pass with a bug: after ``name``, a value is defined after the operation that reads it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def after(self, name: str, module: ModuleOp | None, weights: Any) -> None:
        if name == self.name and module is not None:
            op, reader = next(pair for op in module.walk() if (pair := defined_and_read(op)))
            op.detach()
            assert reader.parent is not None
            reader.parent.insert_op_after(op, reader)


def defined_and_read(op: Operation) -> tuple[Operation, Operation] | None:
    """``op``, and an operation of the same block that reads a result of it."""
    readers = (use.operation for result in op.results for use in result.uses)
    return next(((op, reader) for reader in readers if reader.parent is op.parent and reader.next_op), None)


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_that_breaks_dominance_is_named(name: str) -> None:
    with pytest.raises(InternalError, match=f"The pass {name} made invalid IR") as caught:
        lower_source(OnnxSource.of(model()), make_options(), [Break(name), VerifyEach()])
    assert "defined" in str(caught.value)


def test_a_kernel_that_was_not_lowered_is_named() -> None:
    kept: list[kernel.FuncOp] = []

    class Keep(Instrument):
        def after(self, name: str, module: ModuleOp | None, weights: Any) -> None:
            if name == "fuse.apply-tuned" and module is not None:
                kept.extend(op.clone() for op in module.ops if isinstance(op, kernel.FuncOp))
            if name == "kernel.lower-kernels" and module is not None:
                kept[0].sym_name = StringAttr("left")
                module.body.block.add_op(kept[0])

    with pytest.raises(InternalError, match=r"The pass kernel.lower-kernels made invalid IR.*is not allowed in"):
        lower_source(OnnxSource.of(model()), make_options(), [Keep(), VerifyEach()])


@pytest.mark.parametrize("target", ["x86-64-v3", "cuda:sm_80", "cuda:sm_90"])
@pytest.mark.parametrize("element", [TensorProto.FLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.UINT4])
def test_a_right_compilation_passes(target: str, element: int) -> None:
    """Kernels of a GPU are in four phases, and read floats of 8 bits as bytes."""
    assert lower_source(OnnxSource.of(narrow(element)), make_options(target=target), [VerifyEach()]).sources


def test_the_verifiers_of_operations_run_too() -> None:
    made = ModuleOp([FuncOp.from_region("f", [], [i32])])
    function = made.body.block.first_op
    assert isinstance(function, FuncOp)
    function.body.block.add_op(ReturnOp())
    with pytest.raises(InternalError, match=r"The pass graph.bad made invalid IR.*\(stage 'graph'\)"):
        VerifyEach().after("graph.bad", made, None)
