"""Copy insertion (``split-yields``): a value that a loop yields twice, as loop-carried value and to be collected, gets
a copy for each use.

    graph.yield %h, %h    →    %c = graph.map "x0"(%h)
                               graph.yield %h, %c

The kernel that computes the value then writes both buffers. Without the pass, a copy would follow after a barrier.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import MapOp, ReshapeOp, StructuredOp, YieldOp, source_nodes, with_nodes
from mlc.dialects.types import shape_of
from mlc.passes.fuse.grouping.views import source_of
from mlc.passes.rewriter import bodies


@dataclass(frozen=True)
class SplitYields(ModulePass):
    name = "split-yields"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            if isinstance(body.last_op, YieldOp):
                _split(body.last_op)


def _split(op: YieldOp) -> None:
    seen: set[SSAValue] = set()
    for n, value in enumerate(op.values):
        source = source_of(value)
        if source in seen and isinstance(source.owner, StructuredOp):
            op.operands[n] = _copied(op, source, value)
        seen.add(source)


def _copied(op: YieldOp, source: SSAValue, value: SSAValue) -> SSAValue:
    copy = MapOp("x0", [source])
    new = [copy] if source is value else [copy, ReshapeOp(copy.result, shape_of(value))]
    assert (block := op.parent) is not None
    block.insert_ops_before([with_nodes(o, source_nodes(source.owner)) for o in new], op)  # type: ignore[arg-type]
    return new[-1].results[0]
