"""The order of kernels: a topological order of fusion groups and of the operators in no group.

An in-place update runs right after the last operator that it depends on, so that its gradient is freed at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph.loop import size_made
from mlc.dialects.semantics.dims import evaluate
from mlc.dialects.types import bytes_of
from mlc.passes.fuse.grouping.aliases import aliases_of
from mlc.passes.fuse.grouping.groups import Group, shape_epochs

Item = Operation | Group
LARGE = 65_536  # bytes: to free less is not worth a barrier


def kernel_order(ops: Sequence[Operation], groups: Sequence[Group]) -> list[Item]:
    """Return a topological order of groups and remaining operations, as close to the original order as possible, except
    that in-place updates are as early as possible."""
    item_of: dict[Operation, Item] = {o: o for o in ops} | {o: g for g in groups for o in g.ops}
    rank = {op: n for n, op in enumerate(ops)}
    first = {item: min(rank[o] for o in ops_of(item)) for item in item_of.values()}
    needs = {
        item: {item_of[v.owner] for o in ops_of(item) for v in o.operands if isinstance(v.owner, Operation)} - {item}
        for item in first
    }
    for item, sized in _sizes_before(item_of, ops).items():
        needs[item].add(sized)
    updates = _updates(ops, list(first))
    users: dict[Item, list[Item]] = {item: [] for item in first}
    for item, before in needs.items():
        for b in before:
            users[b].append(item)
    waiting = {item: len(before) for item, before in needs.items()}
    ready = [(first[item], n, item) for n, item in enumerate(first) if not waiting[item]]
    heapq.heapify(ready)
    out: list[Item] = []
    while ready:
        _, n, item = heapq.heappop(ready)
        out.append(item)
        for user in users[item]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (-1 if user in updates else first[user], first[user] + len(first), user))
    return out


def _updates(ops: Sequence[Operation], items: Sequence[Item]) -> set[Item]:
    """Return the items that only compute new values of arguments (in-place updates), and read a large value of another
    item."""
    main = ops[0].parent_op() if ops else None
    new = {alias.new for alias in aliases_of(main)} if isinstance(main, FuncOp) else set()
    return {item for item in items if new and _outputs(item) <= new and any(map(_is_large, _inputs(item)))}


def _outputs(item: Item) -> set[SSAValue]:
    """Return the results of an item that other items read."""
    inside = set(ops_of(item))
    return {v for op in inside for v in op.results if any(use.operation not in inside for use in v.uses)}


def _inputs(item: Item) -> set[SSAValue]:
    """Return the values of other items that an item reads."""
    inside = set(ops_of(item))
    return {v for op in inside for v in op.operands if isinstance(v.owner, Operation) and v.owner not in inside}


def _is_large(value: SSAValue) -> bool:
    size = evaluate(bytes_of(value), {})
    return not isinstance(size, int) or size >= LARGE


def _sizes_before(item_of: dict[Operation, Item], ops: Sequence[Operation]) -> dict[Item, Item]:
    """Return, for each item, the last definition of a run-time dimension before it: its shapes may name the dimension
    without an operand."""
    epoch = shape_epochs(ops)
    sizes: dict[Item, None] = dict.fromkeys(op for op in ops if size_made(op))
    before = {item: epoch[ops_of(item)[0]] - (item in sizes) for item in item_of.values()}
    numbered = list(sizes)
    return {item: numbered[number - 1] for item, number in before.items() if number}


def ops_of(item: Item) -> list[Operation]:
    """Return the operators of a group, or the single operator that is an item of its own."""
    return item.ops if isinstance(item, Group) else [item]
