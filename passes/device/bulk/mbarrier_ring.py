"""A ring of buffers between copying and computing warps, with two mbarriers for each buffer.

A phase of a barrier in ``full`` ends when the bytes of its buffer have arrived, a phase in ``empty`` when all readers
of the buffer have signalled. A loop carries the number of its buffer (``slot``) and the ``parity`` of the phase that it
waits for.
(CUTLASS: ``PipelineTmaAsync``.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.types import element_of, memref, shape_of
from mlc.passes.device.loops.index import Add, Index
from mlc.passes.device.loops.insertion import Inserter, next_slot


@dataclass(frozen=True)
class MbarrierRing:
    """The ring. ``buffers``: for each local array of an operand, the array of ``depth`` such arrays that replaces
    it."""

    depth: int
    buffers: dict[SSAValue, SSAValue]
    full: SSAValue
    empty: SSAValue

    @staticmethod
    def made(locals_: Sequence[kernel.LocalOp], depth: int, readers: int, place: Operation) -> MbarrierRing:
        """Return the ring of ``locals_``. Its barriers are initialized before ``place``; ``readers`` arrivals free a
        buffer."""
        buffers: dict[SSAValue, SSAValue] = {local.result: _buffers(local, depth) for local in locals_}
        return MbarrierRing(depth, buffers, barriers(place, 1, depth), barriers(place, readers, depth))

    def first(self, add: Add, low: SSAValue, high: SSAValue, step: SSAValue) -> list[SSAValue]:
        """Return the buffer and the parity with which the loop of a tile begins: those after the block's previous
        tiles."""
        first, stride = Index(low, add), Index(step, add)
        last = Index(high, add) - first + stride - first.constant(1)
        add(iteration := kernel.IterationOp())
        before = Index(iteration.result, add) * (last // stride)
        rounds = before // self.depth
        return [(before % self.depth).narrow(), (rounds % 2).narrow()]

    def next(self, add: Add, slot: SSAValue, parity: SSAValue) -> list[SSAValue]:
        """Return the buffer after ``slot``, and the parity of its phase, which changes when the ring begins again."""
        after, wraps = next_slot(add, slot, self.depth, 1)
        add(turned := arith.ExtUIOp(wraps, i32))
        add(other := arith.XOrIOp(parity, turned.result))
        return [after, other.result]


def barriers(place: Operation, arrivals: int, count: int) -> SSAValue:
    """Return ``count`` mbarriers, initialized before ``place``, whose phases end after ``arrivals`` arrivals."""
    build = Inserter(place)
    made = build.add(kernel.LocalOp(memref("i64", (count,)))).results[0]
    build.add(kernel.MbarrierInitOp(made, arrivals))
    return made


def _buffers(local: kernel.LocalOp, depth: int) -> SSAValue:
    made = kernel.LocalOp(memref(element_of(local.result), (depth, *shape_of(local.result))), local.layout)
    return Inserter(local).add(made).results[0]
