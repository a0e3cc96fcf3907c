"""Operator fusion and outlining (``form-kernels``): each fusion group becomes an isolated kernel.

%c = graph.contract "mk,kn->mn"(%a, %b)         %m = kernel.call @contract_0(%a, %b, %bias)
%m = graph.map "max(x0 + x1, 0)"(%c, %bias)  →  kernel.func @contract_0(%0, %1, %2) -> … { … kernel.return … }
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.graph import PadOp, source_nodes, with_nodes
from mlc.passes.context import machine_of
from mlc.passes.fuse.grouping.groups import Group, form_groups
from mlc.passes.fuse.grouping.kernel_order import kernel_order
from mlc.passes.rewriter import bodies


@dataclass(frozen=True)
class FormKernels(ModulePass):
    name = "form-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        number = itertools.count()
        for block in bodies(op):
            order = kernel_order(list(block.ops), form_groups(list(block.ops), machine_of(ctx)))
            for item, n in zip(order, number, strict=False):
                if isinstance(item, Group):
                    _outline(item, n, op, block)
                else:
                    item.detach()
                    block.add_op(item)


def _outline(group: Group, number: int, module: ModuleOp, block: Block) -> None:
    inside = set(group.ops)
    inputs = list(dict.fromkeys(v for o in group.ops for v in o.operands if v.owner not in inside))
    outputs = [r for o in group.ops for r in o.results if any(u.operation not in inside for u in r.uses)]
    anchor = next((o for o in group.ops if not isinstance(o, PadOp)), group.ops[0])
    name = f"{anchor.name.partition('.')[2]}_{number}"
    fn = kernel.FuncOp(name, FunctionType.from_lists([v.type for v in inputs], [v.type for v in outputs]))
    fn.fusion = group.fusion
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
