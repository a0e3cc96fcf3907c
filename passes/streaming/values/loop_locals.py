"""The local arrays of loops over blocks that follow each other, which may share them."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, Operation

from mlc.dialects import kernel
from mlc.passes.loops.spill_locals import local_bytes, shared_bytes
from mlc.target import GpuTarget


def locals_of_loops(fn: kernel.FuncOp) -> list[tuple[scf.ParallelOp, list[kernel.LocalOp]]]:
    """The loops over blocks, with the local arrays that each alone uses."""
    locals_ = [o for o in fn.block.ops if isinstance(o, kernel.LocalOp)]
    users = {local: _users(local, fn.block) for local in locals_}
    loops = [o for o in fn.block.ops if isinstance(o, scf.ParallelOp)]
    return [(loop, [local for local in locals_ if users[local] == {loop}]) for loop in loops]


def _users(local: kernel.LocalOp, block: Block) -> set[Operation]:
    """The operations of the kernel's block that use an array, or have one inside that does."""
    found = (block.find_ancestor_op_in_block(use.operation) for use in local.result.uses)
    return {op for op in found if op is not None}


def bytes_beside(local: kernel.LocalOp, fn: kernel.FuncOp, target: GpuTarget) -> int:
    """Bytes of shared memory of a kernel, without the arrays of other loops over blocks than that which uses ``local``:
    it shares these."""
    others = [each for _, locals_ in locals_of_loops(fn) if local not in locals_ for each in locals_]
    return shared_bytes(fn, target) - sum(map(local_bytes, others))
