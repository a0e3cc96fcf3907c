"""The strategy that an operator's attributes name."""

from __future__ import annotations

from mlc.dialects.comm import CommOp
from mlc.dialects.dist import ShardOp
from mlc.dialects.dist.states import PartialAttr, State, WholeAttr
from mlc.dialects.graph import GraphOp
from mlc.dialects.types import shape_of
from mlc.passes.distribute.choice.written import operands_of, result_of, why_of
from mlc.passes.distribute.rules.derive import rules_of
from mlc.passes.distribute.rules.extents import uneven
from mlc.passes.distribute.rules.linear import commutes, keeps_partial
from mlc.passes.distribute.rules.strategy import Strategy


def strategy_of(op: GraphOp, blocks: int) -> Strategy | None:
    """Return the strategy of an operator with states; None if no rule has it."""
    return strategy_with(op, blocks, operands_of(op), result_of(op), why_of(op))


def strategy_with(
    op: GraphOp, blocks: int, operands: tuple[State, ...], result: State, why: str = ""
) -> Strategy | None:
    """Return the strategy of an operator that reads and makes these states; None if no rule has it."""
    if isinstance(op, ShardOp) or all(isinstance(s, WholeAttr) for s in (*operands, result)):
        return Strategy(operands, result, why, divides=False)
    values = (*op.operands, *op.results)
    units = uneven((*operands, result), map(shape_of, values), blocks)
    found = [s for s in rules_of(op, blocks, units).strategies if (s.operands, s.result) == (operands, result)]
    return found[0] if found else linear_strategy(op, operands, result)


def linear_strategy(op: GraphOp, operands: tuple[State, ...], result: State | None = None) -> Strategy | None:
    """Return the strategy that keeps partial operands partial; None if the operator is not linear in them."""
    partial = {n: s.fn.data for n, s in enumerate(operands) if isinstance(s, PartialAttr)}
    others = [s for n, s in enumerate(operands) if n not in partial]
    if len(set(partial.values())) != 1 or any(not isinstance(s, WholeAttr) for s in others):
        return None
    fn = next(iter(partial.values()))
    made = PartialAttr.of(fn)
    linear = commutes(op, fn) if isinstance(op, CommOp) else keeps_partial(op, fn, partial.keys())
    if not linear or result not in (None, made):
        return None
    return Strategy(operands, made, f"linear in x{', x'.join(map(str, partial))}", divides=False)
