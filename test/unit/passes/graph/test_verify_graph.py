"""Each thing verify-graph forbids, and that the message says what and where."""

from __future__ import annotations

import pytest
from graph_checks import GraphBuilder
from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp as ArithConstant
from xdsl.dialects.builtin import ModuleOp, TensorType, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph import ContractOp, MapOp, layout
from mlc.dialects.types import tensor
from mlc.errors import MlcError
from mlc.passes.graph.verify_graph import VerifyGraph
from mlc.passes.layout.blocking.blocked_layout import panels
from mlc.passes.layout.verify_layout import VerifyLayout


def fails(module: ModuleOp, message: str) -> None:
    with pytest.raises(MlcError, match=message) as raised:
        VerifyGraph().apply(Context(), module)
    assert isinstance(raised.value, VerifyException)  # so that mlc-opt --verify-diagnostics prints it


def test_a_good_graph_passes() -> None:
    b = GraphBuilder()
    VerifyGraph().apply(Context(), b.module(b.add(MapOp("exp(x0)", [b.input("n", 3)]))))


def test_use_before_definition() -> None:
    b = GraphBuilder()
    first = b.add(MapOp("exp(x0)", [b.input(2)]))
    second = b.add(MapOp("log(x0)", [first]))
    module = b.module(second)
    first.owner.operands[0] = second
    fails(module, r"operand 0 is read before it is defined \(node 'node0', operator 'graph.map'")


def test_a_value_of_another_function() -> None:
    b, other = GraphBuilder(), GraphBuilder()
    foreign = other.input(2)
    module = b.module(b.add(MapOp("x0 + x1", [b.input(2), foreign])))
    fails(module, "operand 1 is defined outside the function")


def test_an_operator_of_another_dialect() -> None:
    b = GraphBuilder()
    x = b.input(2)
    b.block.add_op(ArithConstant.from_int_and_width(1, i64))
    fails(b.module(x), r"not an operator of the graph dialect.*arith.constant")


def test_a_result_type_that_does_not_follow() -> None:
    b = GraphBuilder()
    op = MapOp("exp(x0)", [b.input(2)])
    op.results[0]._type = tensor("f32", [3])
    fails(b.module(b.add(op)), r"the result type is tensor<3xf32>, inferred from the operands tensor<2xf32>")


def test_a_value_that_is_no_tensor() -> None:
    block = Block(arg_types=[i32])
    fails(ModuleOp([FuncOp("main", ([i32], []), Region(block))]), "type i32 is not a ranked tensor")


def test_an_unknown_element_type() -> None:
    odd = TensorType(i32.__class__(7), [2])
    fails(ModuleOp([FuncOp("main", ([odd], []), Region(Block(arg_types=[odd])))]), "tensors of i7 are not known")


def test_a_function_without_return() -> None:
    b = GraphBuilder()
    module = b.module(b.input(2))
    b.block.last_op.detach()  # type: ignore[union-attr]
    fails(module, "does not end in func.return")


def test_a_return_that_differs_from_the_signature() -> None:
    b = GraphBuilder()
    x, y = b.input(2), b.input(3)
    module = b.module(x)
    b.block.last_op.operands[0] = y  # type: ignore[union-attr]
    fails(module, r"declares \(tensor<2xf32>\) and returns \(tensor<3xf32>\)")


def test_a_declaration_and_a_global() -> None:
    fails(ModuleOp([FuncOp("main", ([], []), Region())]), "@main has 0 blocks")
    fails(ModuleOp([ArithConstant.from_int_and_width(1, i64)]), "only functions")


def test_layouts_belong_to_the_stage_layout() -> None:
    b, layouts = GraphBuilder(), [layout(2), panels(10, 4), layout(2)]
    module = b.module(b.add(ContractOp("mk,kn->mn", b.input(2, 8), b.weight(3, 8, 4), layouts=layouts)))
    with pytest.raises(MlcError, match="the layout .*Ba4b.* belongs to a target"):
        VerifyGraph().apply(Context(), module)
    VerifyLayout().apply(Context(), module)


def test_verify_layout_refuses_what_is_no_graph() -> None:
    b = GraphBuilder()
    x = b.input(2)
    b.block.add_op(ArithConstant.from_int_and_width(1, i64))
    module = b.module(x)
    with pytest.raises(MlcError, match="not an operator of the graph dialect.*verify-layout"):
        VerifyLayout().apply(Context(), module)
