"""Dead code elimination and common subexpression elimination. Every operator of the graph level is pure, so each is one
walk."""

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
    """Dead code elimination: erase operators whose result nobody reads."""
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
    """Drop the operands of ``op`` that no region of it reads."""
    for inner in op.inner_blocks():
        _erase_unread(inner)
    for n in reversed(range(len(op.seen))):
        args = [inner.args[n - len(op.seen)] for inner in op.inner_blocks()]
        if not any(arg.uses.get_length() for arg in args):
            for inner, arg in zip(op.inner_blocks(), args, strict=True):
                inner.erase_arg(arg)
            op.use([v for k, v in enumerate(op.seen) if k != n])


def merge_common(module: ModuleOp) -> None:
    """Common subexpression elimination: keep the first of several operators with the same attributes and operands."""
    for block in bodies(module):
        _merge_block(block)


def _merge_block(block: Block) -> None:
    known: dict[Hashable, Operation] = {}
    sources: dict[Operation, list[str]] = {}  # written once: thousands may be merged into one
    for op in list(block.ops):
        if not isinstance(op, PURE_OPS):
            continue
        first = known.setdefault(_key(op), op)
        if first is not op:
            sources.setdefault(first, [*source_nodes(first)]).extend(source_nodes(op))
            op.results[0].replace_all_uses_with(first.results[0])
            op.detach()
            op.erase()
    for op, names in sources.items():
        with_nodes(op, names)


def _key(op: Operation) -> Hashable:
    return type(op), tuple(op.operands), frozenset(op.properties.items()), op.results[0].type
