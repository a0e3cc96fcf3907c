"""Loop-invariant code motion (``hoist-loop-invariants``): what is equal in all iterations is computed before the loop.

    graph.loop … use(%x) {                        %y = graph.map "exp(x0)"(%x)
      ^bb0(%s, %0):                               graph.loop … use(%y) {
      %y = graph.map "exp(x0)"(%0)           →      ^bb0(%s, %y):
      %n = graph.map "x0 + x1"(%s, %y)              %n = graph.map "x0 + x1"(%s, %y)

Weights, constants, and operators that only broadcast or view their operand are not moved: they cost nothing inside.

A state that each iteration passes on as it is becomes a value that the loop uses; a weight is then one of the region,
whose layout may be chosen. TensorFlow's while loops carry their weights so, and each iteration would copy them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import BroadcastOp, ConstantOp, LoopOp, ReshapeOp, StructuredOp, WeightOp, YieldOp
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
                _hoist(_without_passed_on(loop))
        eliminate_dead(op)


def _without_passed_on(loop: LoopOp) -> LoopOp:
    """The loop without the states that are equal in all iterations."""
    block, count = loop.body.block, len(loop.states)
    goes_on, new, collected = loop.yielded
    same = [n for n in range(count) if new[n] is block.args[n] and not _is_returned(loop.res[n])]
    kept = [n for n in range(count) if n not in same]
    if not same or not kept and not collected:  # one without results would be no operator
        return loop
    last, used = block.last_op, list(loop.used)
    assert last is not None and loop.parent is not None
    last.operands = [*([] if goes_on is None else [goes_on]), *(new[n] for n in kept), *collected]
    for n in same:
        block.args[n].replace_all_uses_with(_inside(block, loop.states[n], used))
    for n in reversed(same):
        block.erase_arg(block.args[n])
    loop.body.detach_block(block)
    size, strict = (text.data if text else None for text in (loop.size, loop.strict))
    states, ends = [loop.states[n] for n in kept], (loop.limit, loop.active)
    made = LoopOp(loop.step.data, loop.most, states, used, block, loop.collect_at, *ends, size, strict)
    made.attributes = dict(loop.attributes)
    loop.parent.insert_op_before(made, loop)
    results = iter(made.res)
    for n, old in enumerate(loop.res):
        value = loop.states[n] if n in same else next(results)
        if n not in same:
            value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    loop.parent.erase_op(loop)
    return made


def _is_returned(result: SSAValue) -> bool:
    """Whether a result leaves the block: what leaves it is a value that an operator of the block makes."""
    return any(isinstance(use.operation, YieldOp | ReturnOp) for use in result.uses)


def _inside(block: Block, state: SSAValue, used: list[SSAValue]) -> SSAValue:
    """The value of a state within the region, and in ``used`` what the loop needs for that."""
    if isinstance(owner := state.owner, WeightOp | ConstantOp) and block.first_op is not None:
        copy = owner.clone()
        block.insert_op_before(copy, block.first_op)
        return copy.results[0]
    used.append(state)
    return block.insert_arg(state.type, len(block.args))


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
