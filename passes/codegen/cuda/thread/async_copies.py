"""Asynchronous copies as C statements: each thread starts the copies of its own chunks, as a whole if the source is
aligned; one thread starts bulk copies, for whose mbarriers other warps wait (``mlc_cuda_tma.h``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.types import shape_of
from mlc.passes.codegen.cuda.thread.cuda_memory import TileAccesses


@dataclass(frozen=True)
class AsyncCopy:
    """The copy of one thread's part: chunks of ``width`` neighbours along ``axis``, with elements of the C type
    ``type``.

    The strides of ``source`` and ``target`` are those of chunks, the limits of ``source`` those of elements.
    """

    source: TileAccesses
    target: TileAccesses
    pointers: tuple[str, str]  # of the source and of the target
    type: str
    width: int
    bytes: int  # of a chunk
    axis: int | None  # None where a chunk is one element
    when: str | None = None  # nothing is read where it is false
    offset: Callable[[int], str] | None = None  # of the element of a register, where it is computed
    aligned: bool = False  # whether the source is known to be aligned as a whole

    def steps(self) -> Iterator[str]:
        """Yield C statements. A source that is not aligned as a whole is copied by elements, synchronously."""
        if self.axis is None or self.aligned:
            yield from self._starts("mlc_copy_async")
            return
        yield f"if (mlc_is_aligned<{self.bytes}>({self.pointers[0]})) {{"
        yield from (f"  {line}" for line in self._starts("mlc_copy_async"))
        yield "} else {"
        yield from (f"  {line}" for line in self._starts("mlc_copy"))
        yield "}"

    def _starts(self, function: str) -> Iterator[str]:
        """Yield a call for each chunk of a thread."""
        source, target = self.pointers
        for r in self.source.part.registers():
            condition = " && ".join([*self.source.once(), *self.source.exists(r)])
            offset = self.offset or self.source.address
            to, start = f"{target} + {self.target.address(r)}", f"{source} + {offset(r)}"
            call = f"{function}<{self.type}, {self.width}>({to}, {start}, {self._valid(r)});"
            yield f"if ({condition}) {call}" if condition else call

    def _valid(self, register: int) -> str:
        """Return how many elements of a chunk are read, as a C expression."""
        limits = dict(self.source.limits)
        along = limits.pop(self.axis, None) if self.axis is not None else None
        conditions = replace(self.source, limits=limits).within(register)
        if self.when is not None:
            conditions.insert(0, self.when)
        count = str(self.width)
        if along is not None:
            assert self.axis is not None
            at = self.source.coordinates.at(self.source.part, self.axis, register)
            count = f"mlc_within({along} - {at} * {self.width}, {self.width})"
        return f"{' && '.join(conditions)} ? {count} : 0" if conditions else count


BulkOp = (
    kernel.BulkCopyOp
    | kernel.MbarrierInitOp
    | kernel.MbarrierExpectOp
    | kernel.MbarrierArriveOp
    | kernel.MbarrierWaitOp
)


def bulk_step(
    op: BulkOp,
    maps: Mapping[kernel.TensorMap, str],
    pointers: Mapping[SSAValue, str],
    scalar: Callable[[SSAValue], str],
) -> str:
    """Return the statement of an operation. ``maps``: the parameters of tensor maps."""
    if isinstance(op, kernel.MbarrierInitOp):
        return f"mlc_mbarrier_init({pointers[op.barrier]}, {shape_of(op.barrier)[0]}, {op.count.value.data});"
    assert op.barrier is not None and op.slot is not None
    barrier = f"{pointers[op.barrier]} + {scalar(op.slot)}"
    match op:
        case kernel.MbarrierExpectOp():
            return f"mlc_mbarrier_expect({barrier}, {op.bytes.value.data});"
        case kernel.MbarrierArriveOp(mask=mask) if mask is not None:
            barrier = f"{pointers[op.barrier]}, {scalar(op.slot)}"
            return f"mlc_mbarrier_arrive_cluster({barrier}, (unsigned){scalar(mask)}{_when(op, scalar)});"
        case kernel.MbarrierArriveOp():
            return f"mlc_mbarrier_arrive({barrier}{_when(op, scalar)});"
        case kernel.MbarrierWaitOp():
            return f"mlc_mbarrier_wait({barrier}, {scalar(op.parity)});"
    coordinates = ", ".join(f"(int)({scalar(v)})" for v in op.coordinates)
    target = f"{pointers[op.target]} + {scalar(op.at)}, {maps[op.map]}, {barrier}"
    if op.mask is not None:
        return f"mlc_bulk_multicast({target}, (unsigned){scalar(op.mask)}, {coordinates});"
    return f"mlc_bulk_copy({target}, {coordinates});"


def _when(op: kernel.MbarrierArriveOp, scalar: Callable[[SSAValue], str]) -> str:
    """Return the argument for a condition."""
    return "" if op.when is None else f", {scalar(op.when)}"
