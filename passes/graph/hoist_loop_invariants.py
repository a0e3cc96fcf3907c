"""Loop-invariant code motion (``hoist-loop-invariants``): what is equal in all iterations is computed before the loop.

    graph.loop … use(%x) {                        %y = graph.map "exp(x0)"(%x)
      ^bb0(%s, %0):                               graph.loop … use(%y) {
      %y = graph.map "exp(x0)"(%0)           →      ^bb0(%s, %y):
      %n = graph.map "x0 + x1"(%s, %y)              %n = graph.map "x0 + x1"(%s, %y)

Weights, constants, and operators that only broadcast or view their operand are not moved: they cost nothing inside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import BroadcastOp, ConstantOp, LoopOp, ReshapeOp, StructuredOp, WeightOp
from mlc.dialects.graph.loop import size_made
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.rewriter import bodies


@dataclass(frozen=True)
class HoistLoopInvariants(ModulePass):
    """Move operators out of a loop if they depend neither on its loop-carried values nor on the number of the
    iteration."""

    name = "hoist-loop-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in reversed(bodies(op)):  # inner loops first: an operator may leave several loops
            for loop in [o for o in body.ops if isinstance(o, LoopOp)]:
                _hoist(loop)
        eliminate_dead(op)


def _hoist(loop: LoopOp) -> None:
    moved = _worth_moving(loop)
    outside: dict[SSAValue, SSAValue] = dict(zip(loop.body.block.args[len(loop.states) :], loop.used, strict=True))
    for op in moved:
        copy = op.clone(outside)
        assert (block := loop.parent) is not None
        block.insert_op_before(copy, loop)
        outside[op.results[0]] = copy.results[0]
    for op in moved:
        readers = {use.operation for use in op.results[0].uses} - set(moved)
        if readers and not isinstance(op, WeightOp | ConstantOp):
            _use(loop, op.results[0], outside[op.results[0]])


def _use(loop: LoopOp, inside: SSAValue, outside: SSAValue) -> None:
    """Add ``outside`` to the values that the loop uses, and replace ``inside``, which its region computes, by it."""
    block = loop.body.block
    argument = block.insert_arg(inside.type, len(block.args))
    inside.replace_all_uses_with(argument)
    loop.use([*loop.used, outside])


def _worth_moving(loop: LoopOp) -> list[Operation]:
    """Return the invariant operators that cost something, and the operators that they need, in order."""
    invariant = _invariant(loop)
    needed: set[Operation] = set()
    for op in reversed(invariant):
        if op in needed or not isinstance(op, WeightOp | ConstantOp | BroadcastOp | ReshapeOp):
            needed.add(op)
            needed.update(o for v in op.operands if isinstance(o := v.owner, Operation))
    return [op for op in invariant if op in needed]


def _invariant(loop: LoopOp) -> list[Operation]:
    known: set[SSAValue] = set(loop.body.block.args[len(loop.states) :])
    own = {loop.step.data, *(s for op in loop.body.block.ops if (s := size_made(op)))}
    found = []
    for op in loop.body.block.ops:
        pure = isinstance(op, StructuredOp | ReshapeOp | WeightOp | ConstantOp)
        if pure and all(v in known for v in op.operands) and own.isdisjoint(_words(op)):
            known.update(op.results)
            found.append(op)
    return found


def _words(op: Operation) -> set[str]:
    """Return the names in the attributes and types of an operator, such as symbols of dimensions."""
    strings = [str(a) for a in (*op.properties.values(), *op.result_types)] if not isinstance(op, ConstantOp) else []
    return set(re.findall(r"\w+", " ".join(strings)))
