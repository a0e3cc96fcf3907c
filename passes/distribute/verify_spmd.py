"""Verifier of a partition (``verify-spmd``): isl proves that the ranks together compute each operator, and read what
they have.

For every operator along one axis: the blocks of all ranks cover the result, or the reduced iterations, each once; what
a rank reads of an operand is in the part that it has; and its local form is the operator on that block. A state of an
operand that its producer does not make is an error too.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dist import ReshardOp, ShardOp, State
from mlc.dialects.dist.states import PartialAttr, WholeAttr, text
from mlc.dialects.graph import GraphOp, source_nodes
from mlc.errors import MlcError
from mlc.passes.distribute.choice.matching import strategy_of
from mlc.passes.distribute.choice.written import argument_states, main_of, mesh_of, operands_of, result_of


class SpmdError(MlcError, VerifyException):
    """The ranks of a mesh would not compute what the program says."""


@dataclass(frozen=True)
class VerifySpmd(ModulePass):
    """Raise an error for the first operator along ``axis`` that is not proved; change nothing.

    Raises:
        SpmdError: names operator, node and states.
    """

    name = "verify-spmd"
    axis: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if (mesh := mesh_of(op, self.axis)) is None:
            return
        main = main_of(op)
        states: dict[SSAValue, State] = dict(zip(main.args, argument_states(main), strict=True))
        for each in main.body.block.ops:
            given = [states[x] for x in each.operands]
            if isinstance(each, ReshardOp):
                _require(each, given, [each.source])  # type: ignore[list-item]
                states[each.result] = each.target  # type: ignore[assignment]
                continue
            _require(each, given, list(operands_of(each)))
            states.update((x, result_of(each)) for x in each.results)
            if not isinstance(each, ReturnOp):
                _prove(each, mesh.axes[self.axis])


def _require(op: Operation, given: list[State], read: list[State]) -> None:
    for n, (state, wanted) in enumerate(zip(given, read, strict=True)):
        if state != wanted:
            raise _error(op, f"operand {n} is {text(state)}, and read as {text(wanted)}: a reshard is missing")


def _prove(op: Operation, blocks: int) -> None:
    """Check that the states of an operator are those of a strategy that is proved."""
    states = (*operands_of(op), *([result_of(op)] if op.results else []))
    if isinstance(op, ShardOp) or all(isinstance(s, WholeAttr) for s in states):
        return
    if not isinstance(op, GraphOp) or strategy_of(op, blocks) is None:
        shown = ", ".join(text(s) for s in states[:-1])
        kind = "keeps no partial value" if any(isinstance(s, PartialAttr) for s in states[:-1]) else "is not proved"
        raise _error(op, f"{op.name} of operands {shown} with result {text(states[-1])} {kind}")


def _error(op: Operation, message: str) -> SpmdError:
    nodes = ", ".join(source_nodes(op))
    return SpmdError(f"Invalid partition: {message}", op=op.name, node=nodes or None, stage="verify-spmd")
