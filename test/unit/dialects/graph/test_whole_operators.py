"""Each graph operator has a meaning, a lowering and a derivative, or stands below with the reason why it has none; and
a new operator gets all three from its class alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from compiled import build, compare, references
from graph_checks import GraphBuilder
from graph_slopes import check
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.autodiff.operators import RULES
from mlc.dialects.comm import Comm
from mlc.dialects.dist import Dist
from mlc.dialects.graph import Graph, LibraryOp, StructuredOp
from mlc.dialects.graph.base import PURE, iterators
from mlc.dialects.semantics.interpreter import interpret
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import element_of, shape_of, tensor

BY_PASSES = {
    "graph.weight": "a value: the weight store has it",
    "graph.constant": "a value: its attribute",
    "graph.loop": "control flow: the host program loops",
    "graph.if": "control flow: the host program branches",
    "graph.yield": "ends a region",
    "graph.nonzero": "gives a dimension: a step of the host program",
    "graph.size": "gives a dimension: a step of the host program",
    "graph.run_counter": "counts runs: a step of the host program",
    "graph.routine": "a step of the host program; its meaning is a row of ROUTINES",
}
"""Operators that no kernel computes, and what does."""

NO_DERIVATIVE = {
    "graph.argsort": "whole numbers",
    "graph.coupling": "an iteration that stops on a condition",
    "graph.non_max_suppression": "whole numbers",
    "graph.random_draw": "depends on no operand",
}
"""Operators of the runtime library through which no derivative passes."""


def classes() -> list[type[Operation]]:
    return list(Graph.operations)


@pytest.mark.parametrize("op", classes(), ids=lambda op: op.name)
def test_each_operator_has_a_meaning_and_a_lowering(op: type[Operation]) -> None:
    """Statements are both; a call of the runtime library has ``evaluate`` and the name of its function."""
    whole = issubclass(op, StructuredOp | LibraryOp)
    assert whole != (op.name in BY_PASSES)
    assert not whole or not getattr(op, "__abstractmethods__", None)


@pytest.mark.parametrize("op", classes(), ids=lambda op: op.name)
def test_each_operator_has_a_derivative(op: type[Operation]) -> None:
    derived = issubclass(op, StructuredOp) or op in RULES
    assert derived != (op.name in NO_DERIVATIVE or op.name in BY_PASSES)


def test_rules_are_of_operators_that_exist() -> None:
    assert set(RULES) <= {*classes(), *Comm.operations, *Dist.operations}


def seed() -> int:
    """A fresh one, which a failure prints."""
    found = int(np.random.SeedSequence().generate_state(1)[0])
    print("seed", found)
    return found


@irdl_op_definition
class MirroredOp(StructuredOp):
    """Element i times the one that is as far from the end."""

    name = "graph.mirrored"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)

    def __init__(self, input: SSAValue):
        super().__init__(operands=[input], result_types=[input.type])

    def infer(self) -> TensorType:
        if not shape_of(self.input):
            raise VerifyException(f"{self.name} takes a tensor with a dimension")
        return tensor(element_of(self.input), shape_of(self.input))

    def statements(self) -> tuple[Statement, ...]:
        *outer, last = names = iterators(len(shape_of(self.input)))
        mirrored = ", ".join([*outer, f"({shape_of(self.input)[-1]}) - 1 - {last}"])
        return (statement(" ".join(names), shape_of(self.input), f"x0[{', '.join(names)}] * x0[{mirrored}]"),)


def test_the_class_of_a_new_operator_is_its_meaning() -> None:
    b = GraphBuilder(seed())
    module = b.module(b.add(MirroredOp(b.input("n", 5))))
    inputs = b.inputs()
    (x,) = (value.astype(np.float64) for value in inputs.values())
    np.testing.assert_allclose(interpret(module, b.weights, inputs)["out0"], x * x[:, ::-1], rtol=1e-6)


def test_the_class_of_a_new_operator_is_its_derivative() -> None:
    def make(emit: Callable[[Operation], SSAValue], x: SSAValue) -> SSAValue:
        return emit(MirroredOp(x))

    check(make, np.random.default_rng(seed()).standard_normal((3, 4)))


def test_the_class_of_a_new_operator_is_its_lowering(tmp_path: Path) -> None:
    b = GraphBuilder(seed())
    module = b.module(b.add(MirroredOp(b.input("n", 19))))
    expected = references(b, module, [{"n": 1}, {"n": 6}])
    compare(build(b, module, tmp_path, tmp_path / "cache"), expected, "graph.mirrored")
