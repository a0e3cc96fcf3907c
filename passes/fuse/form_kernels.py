"""Operator fusion and outlining (``form-kernels``): each fusion group becomes an isolated kernel.

    %c = graph.contract "mk,kn->mn"(%a, %b)         %m = kernel.call @contract_0(%a, %b, %bias)
    %m = graph.map "max(x0 + x1, 0)"(%c, %bias)  →  kernel.func @contract_0(%0, %1, %2) -> … { … kernel.return … }
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.graph import PadOp, source_nodes, with_nodes
from mlc.dialects.graph.loop import size_made
from mlc.passes.context import machine_of
from mlc.passes.fuse.grouping.groups import Group, form_groups, shape_epochs
from mlc.passes.rewriter import bodies


@dataclass(frozen=True)
class FormKernels(ModulePass):
    name = "form-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        number = itertools.count()
        for block in bodies(op):
            order = _schedule(list(block.ops), form_groups(list(block.ops), machine_of(ctx)))
            for item, n in zip(order, number, strict=False):
                if isinstance(item, Group):
                    _outline(item, n, op, block)
                else:
                    item.detach()
                    block.add_op(item)


Item = Operation | Group


def _schedule(ops: list[Operation], groups: list[Group]) -> list[Item]:
    """A topological order of groups and remaining operations, as close to the original order as possible."""
    item_of: dict[Operation, Item] = {o: o for o in ops} | {o: g for g in groups for o in g.ops}
    rank = {op: n for n, op in enumerate(ops)}
    first = {item: min(rank[o] for o in _ops(item)) for item in item_of.values()}
    needs = {
        item: {item_of[v.owner] for o in _ops(item) for v in o.operands if isinstance(v.owner, Operation)} - {item}
        for item in first
    }
    for item, sized in _sizes_before(item_of, ops).items():
        needs[item].add(sized)
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
                heapq.heappush(ready, (first[user], first[user] + len(first), user))
    return out


def _sizes_before(item_of: dict[Operation, Item], ops: list[Operation]) -> dict[Item, Item]:
    """The last definition of a run-time dimension before each item. Shapes may name it without an operand."""
    epoch = shape_epochs(ops)
    sizes: dict[Item, None] = dict.fromkeys(op for op in ops if size_made(op))
    before = {item: epoch[_ops(item)[0]] - (item in sizes) for item in item_of.values()}
    numbered = list(sizes)
    return {item: numbered[number - 1] for item, number in before.items() if number}


def _ops(item: Item) -> list[Operation]:
    return item.ops if isinstance(item, Group) else [item]


def _outline(group: Group, number: int, module: ModuleOp, block: Block) -> None:
    inside = set(group.ops)
    inputs = list(dict.fromkeys(v for o in group.ops for v in o.operands if v.owner not in inside))
    outputs = [r for o in group.ops for r in o.results if any(u.operation not in inside for u in r.uses)]
    anchor = next((o for o in group.ops if not isinstance(o, PadOp)), group.ops[0])
    name = f"{anchor.name.partition('.')[2]}_{number}"
    fn = kernel.FuncOp(name, FunctionType.from_lists([v.type for v in inputs], [v.type for v in outputs]))
    call = kernel.CallOp(name, inputs, [v.type for v in outputs])
    for output, result in zip(outputs, call.res, strict=True):
        output.replace_uses_with_if(result, lambda use: use.operation not in inside)
    for op in group.ops:
        op.detach()
        fn.block.add_op(op)
    argument: dict[SSAValue, SSAValue] = dict(zip(inputs, fn.block.args, strict=True))
    for value, arg in argument.items():
        arg.name_hint = value.name_hint
    for op in group.ops:
        op.operands = [argument.get(v, v) for v in op.operands]
    fn.block.add_op(kernel.ReturnOp(outputs))
    nodes = [n for o in group.ops for n in source_nodes(o)]
    with_nodes(call, nodes)
    block.add_op(call)
    module.body.block.add_op(fn)


