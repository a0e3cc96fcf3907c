"""Memory spaces (``assign-memory-spaces``): which steps the host of a device computes, and the copies that they need.

    rt.nonzero "size0" %m, %w, %n   →   %h = rt.buffer "8" : memref<8xi1, "host">
                                        rt.copy %m, %h
                                        rt.nonzero "size0" %h, %v, %c     (%v, %c: buffers of the host too)
                                        rt.copy %v, %w ; rt.copy %c, %n

Kernels run on the device. The host computes the values that determine further steps (conditions of loops and branches,
run-time dimensions), and routines (strings, images). Inputs, outputs, weights and state are in the device's memory. The
host reads a buffer that it has written again without a copy, until a step overwrites it. A buffer that only the host
reads is not copied to the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import rt
from mlc.dialects.graph.sizes import upper
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import bytes_of
from mlc.passes.plan.program.accessed import accesses


@dataclass(frozen=True)
class AssignMemorySpaces(ModulePass):
    name = "assign-memory-spaces"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            assign(program.body.block, program.bound_of)
            drop_unread(program)


def assign(block: Block, bounds: dict[str, DimLike]) -> None:
    """Give the steps that the host computes, in a block and its nested blocks, buffers in the host's memory."""
    copies = _Copies(block, bounds)
    for op in list(block.ops):
        if isinstance(op, rt.NESTS):
            for region in op.regions:
                assign(region.block, bounds)
            copies.of.clear()
        elif isinstance(op, rt.HOST_STEPS):
            copies.move(op)
        elif isinstance(op, rt.STEPS):
            copies.forget(accesses(op)[1])


@dataclass
class _Copies:
    """The values that are in the device's memory and also in the host's, each with its buffer on the host."""

    block: Block
    bounds: dict[str, DimLike]
    of: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def move(self, op: Operation) -> None:
        """Let a step read and write buffers of the host, with copies before and after the step."""
        reads, writes = accesses(op)
        given = {value: self._read(value, op) for value in reads}
        self.forget(writes)
        made = {value: self._buffer(value, op) for value in writes}
        op.operands = [made.get(value) or given[value] for value in op.operands]
        for value, buffer in made.items():
            self.block.insert_op_after(rt.CopyOp(buffer, value), op)
            self.of[value] = buffer

    def forget(self, written: Iterable[SSAValue]) -> None:
        """Remove the host's copies of values whose memory a step has overwritten."""
        changed = {base for value in written for base, _ in rt.extents(value)}
        stale = [value for value in self.of if changed & {base for base, _ in rt.extents(value)}]
        for value in stale:
            del self.of[value]

    def _read(self, value: SSAValue, op: Operation) -> SSAValue:
        if value not in self.of:
            self.of[value] = self._buffer(value, op)
            self.block.insert_op_before(rt.CopyOp(value, self.of[value]), op)
        return self.of[value]

    def _buffer(self, value: SSAValue, op: Operation) -> SSAValue:
        size = upper(bytes_of(value), self.bounds)
        buffer = rt.BufferOp(str(size), rt.in_host_memory(value.type))
        self.block.insert_op_before(buffer, op)
        return buffer.result


def drop_unread(program: rt.ProgramOp) -> None:
    """Erase buffers of the device that no step reads, with the copies into them."""
    for op in [o for o in rt.walk(program.body.block) if isinstance(o, rt.BufferOp) and not rt.on_host(o.result)]:
        users = [use.operation for use in op.result.uses]
        if all(isinstance(user, rt.CopyOp) and user.target is op.result for user in users):
            for each in (*users, op):
                Rewriter.erase_op(each)
