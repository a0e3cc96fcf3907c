"""``fuse-maps``: an elementwise operator that reads another computes both.

    %1 = graph.map "x0 + x1"(%x, %bias)
    %2 = graph.map "max(x0, 0)"(%1)              →  %2 = graph.map "max((x0 + x1), 0)"(%x, %bias)

The producer is read once, or is cheap, has one large operand and goes into all of its few readers. One of smaller
shape is computed again for every element it is stretched to, so it must be cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.expr import CHEAP, Call, Expr, substitute, walk
from mlc.dialects.graph import MapOp, source_nodes, with_nodes
from mlc.dialects.types import shape_of
from mlc.passes.graph.map_patterns import compact
from mlc.passes.rewriter import bodies, erase_unused

READERS = 3  # of a cheap producer that goes into each of them
NODES = 256  # in one expression


@dataclass(frozen=True)
class FuseMaps(ModulePass):
    """Fuse maps into maps. ``operands``: how many a fused map may have."""

    name = "fuse-maps"
    operands: int = 12

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for reader in [o for o in body.ops if isinstance(o, MapOp)]:
                self._absorb(reader)

    def _absorb(self, op: MapOp) -> None:
        """Fuse what can be into ``op``. Producers come first in the block, so theirs are fused into them already."""
        for arg in dict.fromkeys(op.args):
            producer = arg.owner
            if arg in op.args and isinstance(producer, MapOp) and _worthwhile(producer, op):
                fused = self._fused(producer, op)
                if fused is not None:
                    op = _put(fused, op, producer)

    def _fused(self, producer: MapOp, reader: MapOp) -> MapOp | None:
        expr, args = compose(producer, reader)
        expr, args = compact(expr, args, shape_of(reader.result))
        if len(args) > self.operands or sum(1 for _ in walk(expr)) > NODES:
            return None
        return MapOp(expr, args)


def compose(producer: MapOp, reader: MapOp) -> tuple[Expr, list[SSAValue]]:
    """The expression of ``reader`` with that of ``producer`` written into it, and the operands of both."""
    args = [*reader.args, *producer.args]
    shift = len(reader.args)
    inner = substitute(producer.scalar, lambda load: type(load)(load.operand + shift))
    places = {n for n, a in enumerate(reader.args) if a is producer.result}
    return substitute(reader.scalar, lambda load: inner if load.operand in places else load), args


def _worthwhile(producer: MapOp, reader: MapOp) -> bool:
    cheap = is_cheap(producer.scalar)
    readers = {use.operation for use in producer.result.uses}
    if shape_of(producer.result) != shape_of(reader.result):
        return cheap and len(readers) == 1
    if len(readers) == 1:
        return True
    large = [a for a in producer.args if shape_of(a) == shape_of(producer.result)]
    return cheap and len(large) <= 1 and len(readers) <= READERS and all(_same_map(r, producer) for r in readers)


def _same_map(reader: Operation, producer: MapOp) -> bool:
    return isinstance(reader, MapOp) and shape_of(reader.result) == shape_of(producer.result)


def is_cheap(expr: Expr) -> bool:
    """Whether computing it again costs no more than reading it: no division, no function of the math library."""
    return all(e.fn in CHEAP for e in walk(expr) if isinstance(e, Call))


def _put(fused: MapOp, op: MapOp, producer: MapOp) -> MapOp:
    block = op.parent
    assert block is not None
    with_nodes(fused, (*source_nodes(producer), *source_nodes(op)))
    block.insert_op_before(fused, op)
    fused.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(fused.result)
    erase_unused([op])
    return fused
