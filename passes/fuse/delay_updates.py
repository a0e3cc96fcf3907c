"""Order of in-place updates (``delay-updates``): a kernel that replaces an argument runs after all readers of the old
value.

    %p1 = kernel.call @update(%p, %g)                     %dx = kernel.call @product(%dy, %p)
    %dx = kernel.call @product(%dy, %p)               →   %p1 = kernel.call @update(%p, %g)
    func.return %p1, %dx   (%p1: graph.alias = 0)         func.return %p1, %dx

The update can then write into the argument's memory. A reader that depends on the update stays after it, and the host
program copies the argument (``build-program``). The order is otherwise kept, so that an update directly follows its
gradient.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from mlc.passes.fuse.grouping.aliases import Alias, aliases_of, readers


@dataclass(frozen=True)
class DelayUpdates(ModulePass):
    name = "delay-updates"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for main in [o for o in op.ops if isinstance(o, func.FuncOp)]:
            if found := aliases_of(main):
                _reorder(main.body.block, found)


def _reorder(block: Block, aliases: Sequence[Alias]) -> None:
    ops = [op for op in block.ops if op is not block.last_op]
    needs = {op: {v.owner for v in op.operands if isinstance(v.owner, Operation)} for op in ops}
    for alias in aliases:
        if (writer := alias.writer) is not None:
            before = {op for op in readers(alias.old) if op in needs} - {writer}
            if not any(_depends(op, writer, needs) for op in before):
                needs[writer] |= before
    for op in _order(ops, needs):
        op.detach()
        assert block.last_op is not None
        block.insert_op_before(op, block.last_op)


def _depends(op: Operation, on: Operation, needs: dict[Operation, set[Operation]]) -> bool:
    """Return whether ``op`` depends on the result of ``on``, directly or not."""
    seen, stack = {op}, [op]
    while stack:
        for each in needs[stack.pop()] - seen:
            if each is on:
                return True
            seen.add(each)
            stack.append(each)
    return False


def _order(ops: Sequence[Operation], needs: dict[Operation, set[Operation]]) -> list[Operation]:
    """Return a topological order of ``ops``, as close to their order as possible."""
    users: dict[Operation, list[Operation]] = {op: [] for op in ops}
    for op, before in needs.items():
        for each in before:
            users[each].append(op)
    rank = {op: n for n, op in enumerate(ops)}
    waiting = {op: len(before) for op, before in needs.items()}
    ready = [rank[op] for op in ops if not waiting[op]]
    heapq.heapify(ready)
    order: list[Operation] = []
    while ready:
        order.append(ops[heapq.heappop(ready)])
        for user in users[order[-1]]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, rank[user])
    return order
