"""Block barriers (``insert-block-barriers``): the threads of a block wait for each other before one reads what another
wrote.

    kernel.write %v, %t[%i]            kernel.write %v, %t[%i]
    %w = kernel.read %t[%j]      →     kernel.barrier
                                       %w = kernel.read %t[%j]

A barrier separates a write from each read and write of the same buffer, and a read from a later write, unless the same
threads access the same elements in both. A statement writes each element of an output once, so a write needs no barrier
for accesses to the same elements in another iteration. Iterations of a parallel loop may run in other blocks, so only
arrays of the block need barriers between them. Control flow is uniform in a block, so that a barrier may be anywhere.

An asynchronous copy writes from its start to the wait for it. It needs a barrier after reads of the buffer before its
start, and one between the wait and the reads of the copied elements; meanwhile only other elements of the buffer are
accessed.

An input and an output that share memory (``prove-in-place``) count as one buffer: several threads may hold an element
of the input, and one of them overwrites it. If a read and a write access the same elements, no other iteration reads
the elements that this one overwrites, because each element of an output is written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.passes.device.distribute_values import DISTRIBUTION
from mlc.passes.device.distribution.value_classes import extents

READS = (kernel.ReadOp, kernel.GatherOp, kernel.MmaOp)
ASYNCHRONOUS = (kernel.AsyncCopyOp, kernel.AsyncGatherOp)
WRITES = (kernel.WriteOp, kernel.ScatterOp, *ASYNCHRONOUS)
ACCESSES = (*READS, *WRITES)
BARRIERS = (kernel.BarrierOp, kernel.ArriveOp)
"""The operations that all threads of a block reach before one of them goes on."""


@dataclass(frozen=True)
class InsertBlockBarriers(ModulePass):
    name = "insert-block-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            written = {b for o in fn.walk() if isinstance(o, WRITES) for b in _written_by(o)}
            read = {v for o in fn.walk() if isinstance(o, READS) for v in _buffers(o)}
            read |= {kernel.root_of(o.buffer) for o in fn.walk() if isinstance(o, ASYNCHRONOUS)}
            updated: dict[SSAValue, SSAValue] = {fn.block.args[n]: fn.block.args[k] for n, k in fn.in_place}
            if shared := written & {updated.get(v, v) for v in read}:
                _Barriers(shared, updated, _outputs(fn)).block(fn.block, _Pending())


@dataclass(frozen=True)
class _Pending:
    """The accesses since the last barrier. ``earlier``: those of other iterations, in which offsets had other values;
    ``in_flight``: asynchronous copies that may not have arrived."""

    accesses: frozenset[Operation] = frozenset()
    earlier: frozenset[Operation] = frozenset()
    in_flight: frozenset[Operation] = frozenset()

    def joined(self, other: _Pending) -> _Pending:
        in_flight = self.in_flight | other.in_flight
        return _Pending(self.accesses | other.accesses, self.earlier | other.earlier, in_flight)

    def carried(self) -> _Pending:
        """Return the accesses that an iteration hands to the next."""
        return _Pending(frozenset(), self.accesses | self.earlier, self.in_flight)

    def after_barrier(self) -> _Pending:
        return _Pending(in_flight=self.in_flight)

    def after_wait(self, wait: kernel.AsyncWaitOp) -> _Pending:
        """Return the accesses after a wait: copies in flight may have arrived, and all have if no group is left."""
        left = self.in_flight if wait.groups.value.data else frozenset[Operation]()
        return _Pending(self.accesses, self.earlier | self.in_flight, left)


@dataclass(frozen=True)
class _Barriers:
    shared: set[SSAValue]  # the buffers that a kernel both reads and writes
    updated: Mapping[SSAValue, SSAValue]  # the output of an input that has its memory
    outputs: frozenset[SSAValue]  # arguments of which each iteration of a parallel loop accesses elements of its own

    def block(self, block: Block, pending: _Pending) -> _Pending:
        """Insert barriers into a block, and return the accesses that are pending after it. A loop's body is visited
        again with the accesses that are pending at its end."""
        for op in list(block.ops):
            if isinstance(op, BARRIERS):
                pending = pending.after_barrier()
            elif isinstance(op, kernel.AsyncWaitOp):
                pending = pending.after_wait(op)
            elif isinstance(op, scf.ForOp) and self._waits_before(op, pending):
                self._insert_before(op)
                pending = pending.after_barrier()
                pending = pending.joined(self.block(op.body.block, pending).carried())
            elif isinstance(op, scf.ForOp | scf.ParallelOp):
                body = op.regions[0].block
                once = self._of_arrays(op, self.block(body, pending))
                pending = pending.joined(self.block(body, pending.joined(once).carried()))
            elif isinstance(op, kernel.SpecializeOp):
                pending = pending.joined(self.block(op.consumer.block, pending))
            elif isinstance(op, scf.IfOp):
                pending = pending.joined(self.block(op.true_region.block, pending))
            elif isinstance(op, ACCESSES) and self.shared.intersection(self._memories(op)):
                pending = self._access(op, pending)
        return pending

    def _insert_before(self, op: Operation) -> None:
        assert isinstance(op.parent, Block)
        op.parent.insert_op_before(kernel.BarrierOp(), op)

    def _of_arrays(self, loop: scf.ForOp | scf.ParallelOp, pending: _Pending) -> _Pending:
        """Return the accesses that the next iteration waits for: of a parallel loop, those to arrays of the block."""
        if isinstance(loop, scf.ForOp):
            return pending
        local = frozenset(op for op in pending.accesses | pending.earlier if not self.outputs.issuperset(_buffers(op)))
        return _Pending(pending.accesses & local, pending.earlier & local, pending.in_flight)

    def _waits_before(self, loop: scf.ForOp, pending: _Pending) -> bool:
        """Return whether a loop conflicts with pending accesses, but needs no barrier between its iterations."""
        inside = [o for o in loop.walk() if isinstance(o, ACCESSES) and self.shared.intersection(self._memories(o))]
        waits = any(self._conflicts(op, other) for op in inside for other in (*pending.accesses, *pending.earlier))
        arrives = any(isinstance(o, (kernel.AsyncWaitOp, *ASYNCHRONOUS)) for o in loop.walk())
        return waits and not arrives and self._needs_none_inside(loop.body.block)

    def _needs_none_inside(self, body: Block) -> bool:
        trial = _Trial(self.shared, self.updated, self.outputs)
        trial.block(body, trial.block(body, _Pending()).carried())
        return not trial.found

    def _access(self, op: Operation, pending: _Pending) -> _Pending:
        fresh = any(self._conflicts(op, other) and not _same_elements(op, other) for other in pending.accesses)
        if fresh or any(self._conflicts(op, other) and not self._replaces(op, other) for other in pending.earlier):
            self._insert_before(op)
            pending = pending.after_barrier()
        own = frozenset({op})
        return pending.joined(_Pending(in_flight=own) if isinstance(op, ASYNCHRONOUS) else _Pending(own))

    def _memories(self, op: Operation) -> set[SSAValue]:
        """Return the buffers that an operation accesses; an input that is updated in place counts as its output."""
        return {self.updated.get(v, v) for v in _buffers(op)}

    def _conflicts(self, op: Operation, other: Operation) -> bool:
        """Return whether two operations access one buffer, and at least one of them writes it."""
        pairs = ((op, other), (other, op))
        return any(not self._memories(b).isdisjoint(_written_by(a)) for a, b in pairs)

    def _replaces(self, op: Operation, other: Operation) -> bool:
        """Return whether no thread touches an element in one iteration that another thread touches in another: a write
        of an output and what accesses the same elements, writes of an output that has an input's memory, or one that
        replaces what the other has read."""
        same = op is other or _same_elements(op, other)
        if same and kernel.WriteOp in (type(op), type(other)) and self.outputs.issuperset(_buffers(op)):
            return True
        if isinstance(op, WRITES) and isinstance(other, WRITES):
            return self._memories(op) <= set(self.updated.values())
        return _buffers(op) != _buffers(other) and _same_elements(op, other)


@dataclass(frozen=True)
class _Trial(_Barriers):
    """Finds the barriers, and inserts none."""

    found: list[Operation] = field(default_factory=list)

    def _insert_before(self, op: Operation) -> None:
        self.found.append(op)


def _outputs(fn: kernel.FuncOp) -> frozenset[SSAValue]:
    """The arguments of which each iteration of a parallel loop accesses elements of its own, as it may be of another
    block: not scratch, which a block uses again, and none where iterations depend on each other."""
    if fn.serial is not None or any(isinstance(o, kernel.ArriveOp) for o in fn.walk()):
        return frozenset()
    args, scratch = fn.block.args, fn.scratch
    return frozenset(args[: len(args) - scratch.arrays - scratch.semaphores])


def _buffers(op: Operation) -> tuple[SSAValue, ...]:
    """Return the buffers that an operation accesses."""
    if isinstance(op, kernel.MmaOp):
        return tuple(kernel.root_of(v) for v in ((op.b,) if op.held else (op.a, op.b)))
    target = (kernel.root_of(op.target),) if isinstance(op, ASYNCHRONOUS) else ()
    return (kernel.root_of(op.buffer), *target)  # type: ignore[attr-defined]


def _written_by(op: Operation) -> tuple[SSAValue, ...]:
    """Return the buffers that an operation writes."""
    return _buffers(op)[-1:] if isinstance(op, WRITES) else ()


def _same_elements(op: Operation, other: Operation) -> bool:
    """Return whether each thread accesses the same elements in both operations."""
    first, second = _elements(op), _elements(other)
    return first is not None and first == second


def _elements(op: Operation) -> Sequence[object] | None:
    """Return a key that determines which element each thread accesses; None for computed addresses, and if several
    threads hold one element, since one of them writes it."""
    if not isinstance(op, kernel.ReadOp | kernel.WriteOp):
        return None
    value = op.value if isinstance(op, kernel.WriteOp) else op.result
    distribution = _distribution(value)
    if not isinstance(distribution, kernel.LayoutAttr) or not _held_once(distribution.data, extents(value)):
        return None
    place = op.buffer if isinstance(op.buffer.owner, Operation) else None  # arguments that conflict are one buffer
    return (place, op.offset, op.strides, *op.dynamic, value.type, distribution)


def _held_once(layout: LinearLayout, shape: Sequence[int]) -> bool:
    """Return whether no two threads hold the same element of a value."""
    own = layout.sliced(len(layout.shape) - len(shape) + n for n, extent in enumerate(shape) if extent > 1)
    return not any(own.free(name) for name in own.names if name in ("lane", "warp"))


def _distribution(value: SSAValue) -> object:
    """Return the distribution of a value, its own or that of an operand; None if it has none, or if it cannot be
    followed through an operation with regions."""
    while isinstance(value.owner, Operation):
        if found := value.owner.attributes.get(DISTRIBUTION):
            return found
        vectors = [v for v in value.owner.operands if v.type == value.type]
        if not vectors or value.owner.regions:
            return None
        value = vectors[0]
    return None
