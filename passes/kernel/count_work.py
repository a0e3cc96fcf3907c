"""``count-work``: note on each kernel how many operations it does and how many bytes it must at least move.

    kernel.func @k(%a, %b, %c)   →   kernel.func @k(%a, %b, %c) attributes {kernel.flops = "2*m*…", kernel.bytes = "…"}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.dims import DimLike, product
from mlc.dialects.graph import dims_of
from mlc.dialects.types import bytes_of

FLOPS, BYTES = "kernel.flops", "kernel.bytes"
_FREE = {"kernel.yield", "kernel.index", "kernel.symbol", "arith.constant", "arith.index_cast", "memref.load"}
_FREE |= {"builtin.unrealized_conversion_cast"}


@dataclass(frozen=True)
class CountWork(ModulePass):
    name = "count-work"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            flops: DimLike = 0
            for generic in (o for o in fn.block.ops if isinstance(o, kernel.GenericOp)):
                each = sum(o.name not in _FREE for o in generic.body.block.ops) + (generic.monoid is not None)
                flops = flops + product(dims_of(generic.bounds)) * each
            moved = sum((bytes_of(a) for a in fn.block.args), 0)
            fn.attributes[FLOPS], fn.attributes[BYTES] = StringAttr(str(flops)), StringAttr(str(moved))
