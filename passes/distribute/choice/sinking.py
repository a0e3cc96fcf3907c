"""The backward sweep: what every reader splits alike is split where it is computed, as long as that costs nothing."""

from __future__ import annotations

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from mlc.dialects.dist import PLANNED, ShardOp, State
from mlc.dialects.dist.states import SplitAttr, WholeAttr
from mlc.dialects.graph import GraphOp
from mlc.dialects.types import shape_of
from mlc.passes.distribute.choice.choosing import Chooser
from mlc.passes.distribute.rules.derive import rules_of
from mlc.passes.distribute.rules.extents import uneven


def sink(chooser: Chooser) -> None:
    """Split what is whole and read in parts alone: operators of whole operands, and arguments without a sharding."""
    for op in reversed(list(chooser.main.body.block.ops)):
        if PLANNED in op.attributes:
            continue
        if isinstance(op, GraphOp) and not isinstance(op, ShardOp) and (wanted := _wanted(chooser, op.results[0])):
            _switch(chooser, op, wanted)
    for x in chooser.main.args:
        if x not in chooser.pinned and (wanted := _wanted(chooser, x)) and wanted.granule == 1:
            chooser.states[x] = wanted


def _wanted(chooser: Chooser, x: SSAValue) -> SplitAttr | None:
    """Return the split in which all readers of a whole value read it."""
    if not isinstance(chooser.states[x], WholeAttr):
        return None
    read = {_read(chooser, use.operation, use.index) for use in x.uses}
    (state,) = read if len(read) == 1 else (None,)
    return state if isinstance(state, SplitAttr) else None


def _read(chooser: Chooser, op: Operation, n: int) -> State:
    return chooser.chosen[op].operands[n]


def _switch(chooser: Chooser, op: GraphOp, wanted: SplitAttr) -> None:
    if isinstance(op, ReturnOp) or any(not isinstance(chooser.states[x], WholeAttr) for x in op.operands):
        return
    units = uneven([wanted], [shape_of(op.results[0])], chooser.blocks)
    for strategy in rules_of(op, chooser.blocks, units).strategies:
        if strategy.result == wanted:
            chooser.chosen[op] = strategy
            chooser.states[op.results[0]] = wanted
            return
