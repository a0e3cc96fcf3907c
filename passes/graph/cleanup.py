"""Removing what is unused and what is computed twice. Every operator of the graph level is pure, so both are simple
walks.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from mlc.dialects.graph import GraphOp, PositionsOp, source_nodes, with_nodes
from mlc.dialects.graph.data import ConstantOp, WeightOp
from mlc.passes.rewriter import bodies

PURE_OPS = (GraphOp, WeightOp, ConstantOp)


def eliminate_dead(module: ModuleOp) -> None:
    """Erase operators whose result nobody reads."""
    for block in bodies(module):
        for op in reversed(list(block.ops)):
            if isinstance(op, PURE_OPS) and not isinstance(op, PositionsOp) and not op.results[0].uses.get_length():
                op.detach()
                op.erase()


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
