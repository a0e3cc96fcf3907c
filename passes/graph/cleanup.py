"""Removing what is unused and what is computed twice. Every operator of the graph level is pure, so both are simple
walks.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from mlc.dialects.graph import GraphOp, RegionOp, source_nodes, with_nodes
from mlc.dialects.graph.data import ConstantOp, WeightOp
from mlc.dialects.graph.loop import size_made
from mlc.passes.rewriter import bodies

PURE_OPS = (GraphOp, WeightOp, ConstantOp)


def eliminate_dead(module: ModuleOp) -> None:
    """Erase operators whose result nobody reads."""
    for function in [f for f in module.ops if isinstance(f, func.FuncOp) and f.body.blocks]:
        _erase_unread(function.body.block)


def _erase_unread(block: Block) -> None:
    for op in reversed(list(block.ops)):
        if isinstance(op, RegionOp):
            _forget_unused(op)
        pure = isinstance(op, (*PURE_OPS, RegionOp)) and size_made(op) is None
        if pure and not any(r.uses.get_length() for r in op.results):
            op.detach()
            op.erase()


def _forget_unused(op: RegionOp) -> None:
    """What no region of ``op`` reads is not given to it."""
    for inner in op.inner_blocks():
        _erase_unread(inner)
    for n in reversed(range(len(op.seen))):
        args = [inner.args[n - len(op.seen)] for inner in op.inner_blocks()]
        if not any(arg.uses.get_length() for arg in args):
            for inner, arg in zip(op.inner_blocks(), args, strict=True):
                inner.erase_arg(arg)
            op.use([v for k, v in enumerate(op.seen) if k != n])


def merge_common(module: ModuleOp) -> None:
    """Keep the first of several operators with the same attributes and operands."""
    for block in bodies(module):
        _merge_block(block)


def _merge_block(block: Block) -> None:
    known: dict[Hashable, Operation] = {}
    for op in list(block.ops):
        if not isinstance(op, PURE_OPS):
            continue
        first = known.setdefault(_key(op), op)
        if first is not op:
            with_nodes(first, (*source_nodes(first), *source_nodes(op)))
            op.results[0].replace_all_uses_with(first.results[0])
            op.detach()
            op.erase()


def _key(op: Operation) -> Hashable:
    return type(op), tuple(op.operands), frozenset(op.properties.items()), op.results[0].type
