"""Pipelined copies: which copies of a loop to shared memory software pipelining can start earlier, and their width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block

from mlc.dialects import kernel
from mlc.dialects.types import ITEMSIZE, element_of, elements_in
from mlc.passes.device.distribution.block_threads import threads_of
from mlc.passes.device.gathers.axis_info import are_neighbours
from mlc.passes.device.loops.divisibility import divisor
from mlc.passes.device.loops.recompute import recomputable
from mlc.passes.effects import written_by
from mlc.target import GpuTarget

CHUNKS = (16, 8, 4)  # bytes that cp.async copies


@dataclass(frozen=True)
class Copy:
    """A copy in a loop's body to a local array, ``width`` elements at a time."""

    read: kernel.ReadOp | kernel.GatherOp
    write: kernel.WriteOp
    local: kernel.LocalOp
    width: int


def copies_of(fn: kernel.FuncOp, loop: scf.ForOp, narrow: bool = False) -> Iterator[Copy]:
    """Yield the copies of a loop from buffers that the kernel does not write to local arrays that only the loop uses.
    ``narrow``: yield also copies without 4 neighbouring bytes (of width 0)."""
    written = {buffer for o in fn.walk() for buffer in written_by(o)}
    for write in (o for o in loop.body.block.ops if isinstance(o, kernel.WriteOp)):
        read, local = write.value.owner, write.buffer.owner
        if not isinstance(read, kernel.ReadOp | kernel.GatherOp) or read.buffer in written:
            continue
        if not isinstance(local, kernel.LocalOp):
            continue
        alone = read.parent is write.parent and len(list(read.result.uses)) == 1 and _is_own(local, write, loop)
        if alone and _moves(read, write, loop.body.block) and ((width := width_of(read, write)) or narrow):
            yield Copy(read, write, local, width)


def has_registers(fn: kernel.FuncOp, loop: scf.ForOp, copy: Copy, target: GpuTarget) -> bool:
    """Return whether a thread has registers for the computed offsets of another iteration: the loop's values take at
    most a quarter of them, or several neighbours have one offset."""
    if isinstance(copy.read, kernel.ReadOp) or copy.width > 1:
        return True
    sums = sum(prod(r.type.get_shape()) for r in loop.results if isinstance(r.type, VectorType))
    return sums <= (threads_of(fn, target) or target.block_threads) * target.thread_registers // 4


def _is_own(local: kernel.LocalOp, write: kernel.WriteOp, loop: scf.ForOp) -> bool:
    """Return whether only the loop accesses a local array, and only ``write`` writes it."""
    users = [use.operation for use in local.result.uses]
    writing = [o for o in users if local.result in written_by(o)]
    return all(loop.is_ancestor(o) for o in users) and writing == [write]


def _moves(read: kernel.ReadOp | kernel.GatherOp, write: kernel.WriteOp, body: Block) -> bool:
    """Return whether both accesses are of whole tiles, at addresses that other iterations can compute."""
    whole = read.lanes is None and write.lanes is None and not write.valid
    fixed = all(isinstance(s, int) for s in write.mixed_strides) and not write.dynamic and bool(write.mixed_strides)
    if isinstance(read, kernel.GatherOp):
        whole, indices = whole and read.lane_offsets is None, [read.offsets]
    else:
        whole, indices = whole and read.odd is None, [read.offset, *read.dynamic]
    return whole and fixed and all(recomputable(v, body) for v in (*indices, *read.valid, write.offset))


def width_of(read: kernel.ReadOp | kernel.GatherOp, write: kernel.WriteOp) -> int:
    """Return how many neighbours are copied at a time: as many as are contiguous and aligned in both arrays; 0 if they
    have less than 4 bytes."""
    if isinstance(read, kernel.GatherOp):
        return _width_of_gather(read, write)
    size, extents = ITEMSIZE[element_of(read.buffer)], read.result.type.get_shape()  # type: ignore[attr-defined]
    rows = list(zip(extents, read.mixed_strides, write.mixed_strides, strict=True))
    axis = next((n for n, (extent, *strides) in enumerate(rows) if extent > 1 and strides == [1, 1]), None)
    others = [s for n, (extent, *strides) in enumerate(rows) if n != axis and extent > 1 for s in strides]
    slot = elements_in(write.buffer)
    assert isinstance(slot, int)
    aligned = gcd(slot, *map(divisor, (read.offset, write.offset, *others)))
    together = 1 if axis is None else gcd(aligned, extents[axis])
    return next((n // size for n in CHUNKS if n % size == 0 and together % (n // size) == 0), 0)


def _width_of_gather(read: kernel.GatherOp, write: kernel.WriteOp) -> int:
    """Return the elements of one copy of a gather: several narrow elements if their offsets are consecutive, and
    aligned in both arrays; otherwise one."""
    size, strides = ITEMSIZE[element_of(read.buffer)], write.mixed_strides
    if size in CHUNKS or 1 not in strides:
        return int(size in CHUNKS)
    axis, slot = strides.index(1), elements_in(write.buffer)
    assert isinstance(slot, int)
    others = [s for n, s in enumerate(strides) if n != axis and isinstance(s, int)]
    aligned = gcd(slot, divisor(write.offset), *others)
    widths = (n // size for n in CHUNKS if aligned % (n // size) == 0)
    return next((n for n in widths if are_neighbours(read.offsets, axis, n)), 0)
