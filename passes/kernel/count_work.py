"""Cost analysis (``count-work``): each kernel gets its number of operations and the fewest bytes that it must move, for
the cost model.

    kernel.func @k(%a, %b, %c)   →   kernel.func @k(%a, %b, %c) attributes {
                                        work = #kernel.work<flops = "2*m*…", bytes = "…">}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import DimLike, dim_min, product
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of
from mlc.passes.fuse.grouping.aliases import pairs_of_aliases, scatter_of

_FREE = {"poly.yield", "kernel.index", "kernel.symbol", "arith.constant", "arith.index_cast", "memref.load"}
_FREE |= {"builtin.unrealized_conversion_cast"}


@dataclass(frozen=True)
class CountWork(ModulePass):
    name = "count-work"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        asked = pairs_of_aliases(op)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            flops: DimLike = 0
            for statement in (o for o in fn.block.ops if isinstance(o, poly.StatementOp)):
                each = sum(o.name not in _FREE for o in statement.body.block.ops) + (statement.monoid is not None)
                flops = flops + _points(statement) * each
            moved = sum((_moved_bytes(a) for a in fn.block.args), 0)
            if (scatter := scatter_of(fn)) is not None and asked.get(fn.sym_name.data):
                _, *given, _ = scatter.args  # in place: indices, and updates from one buffer to the other
                moved = sum((bytes_of(a) for a in (*given, given[-1])), 0)
            fn.work = kernel.Work(flops, moved)


def _moved_bytes(buffer: SSAValue) -> DimLike:
    """Return the bytes of a buffer that are read or written: the whole buffer, or the gathered elements if these are
    fewer."""
    readers = [use.operation for use in buffer.uses]
    if not readers or not all(isinstance(r, memref.LoadOp) for r in readers):
        return bytes_of(buffer)
    size = ITEMSIZE[element_of(buffer)]
    reads, whole = sum((_points(_statement_of(r)) * size for r in readers), 0), bytes_of(buffer)
    return dim_min(reads, whole)


def _points(statement: poly.StatementOp) -> DimLike:
    return product(extent for _, extent in statement.domain.data)


def _statement_of(op: Operation) -> poly.StatementOp:
    while not isinstance(op, poly.StatementOp):
        assert (outer := op.parent_op()) is not None
        op = outer
    return op
