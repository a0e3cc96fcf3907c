"""Sharing of local arrays (``share-locals``): loops over blocks that follow each other use the same local arrays.

    scf.parallel %i = 0 to 15 { … %s … }         scf.parallel %i = 0 to 15 { … %s … }
    scf.parallel %j = 0 to 1  { … %t … }    →    scf.parallel %j = 0 to 1  { … %s … }

A smaller last block of rows has its own loop. The arrays that it stages have the types of those of the other blocks,
because fragments are padded: shared memory then holds only one of each, and has room for larger blocks. Barriers are
inserted later. The pass applies to kernels with a stream on tensor cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.types import shape_of
from mlc.passes.context import gpu_of
from mlc.passes.device.streaming.promote_locals import is_stream_of_fragments
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.shared_memory import check_shared, locals_of_loops


@dataclass(frozen=True)
class ShareLocals(ModulePass):
    name = "share-locals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and is_stream_of_fragments(o)]:
            _share(fn)
            with following(fn):
                check_shared(fn, gpu_of(ctx))


def _share(fn: kernel.FuncOp) -> None:
    """Let each loop use arrays of the loops before, each in place of one of its own; or the first buffer of a ring."""
    known: list[kernel.LocalOp] = []
    for loop, locals_ in locals_of_loops(fn):
        same = _pairs(locals_, known, 0)
        rings = _pairs([o for o in locals_ if o not in same], [o for o in known if o not in same.values()], 1)
        for local, other in same.items():
            _replace(local, other.result)
        for local, ring in rings.items():
            _replace(local, _first_buffer(ring, loop))
        known += [o for o in locals_ if o not in same and o not in rings]


def _pairs(
    locals_: Sequence[kernel.LocalOp], others: Sequence[kernel.LocalOp], without: int
) -> dict[kernel.LocalOp, kernel.LocalOp]:
    """Return for local arrays others, each for at most one, that are alike ``without`` so many first axes."""
    free, found = list(others), dict[kernel.LocalOp, kernel.LocalOp]()
    for local in locals_:
        shape = shape_of(local.result)
        alike = (o for o in free if shape_of(o.result)[without:] == shape and o.layout == local.layout)
        if other := next(alike, None):
            free.remove(other)
            found[local] = other
    return found


def _first_buffer(ring: kernel.LocalOp, loop: scf.ParallelOp) -> SSAValue:
    """Return the first buffer of a ring, in the body of a loop."""
    zero = arith.ConstantOp(IntegerAttr(0, i32))
    buffer = kernel.SubviewOp(ring.result, zero.result)
    first = loop.body.block.first_op
    assert first is not None
    loop.body.block.insert_ops_before([zero, buffer], first)
    return buffer.result


def _replace(local: kernel.LocalOp, by: SSAValue) -> None:
    local.result.replace_all_uses_with(by)
    Rewriter.erase_op(local)
