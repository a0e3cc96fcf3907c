"""Live ranges of the tensors that kernels exchange, before kernels are formed: they are those that form-kernels would
make."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import ConcatOp, ConstantOp, WeightOp, YieldOp
from mlc.dialects.semantics.dims import evaluate, symbols_of
from mlc.dialects.types import bytes_of
from mlc.passes.assumed_extents import PLANNED
from mlc.passes.fuse.grouping.groups import form_groups
from mlc.passes.fuse.grouping.kernel_order import Item, kernel_order, ops_of
from mlc.passes.fuse.grouping.views import source_of, views
from mlc.target import Target


class LiveValues:
    """The kernels of a block as steps in order, and the buffers that they exchange.

    A value is free if its buffer is the caller's or holds a weight: it takes no bytes of the arena, and is in memory at
    each step after it is computed.
    """

    def __init__(self, block: Block, target: Target) -> None:
        ops = list(block.ops)
        self.order = kernel_order(ops, form_groups(ops, target))
        self.kernel = {op: item for item in self.order for op in ops_of(item)}
        self.step = {op: n for n, item in enumerate(self.order) for op in ops_of(item)}
        self.views = views(ops)
        self.parts = {
            source_of(v): op.result for op in ops if isinstance(op, ConcatOp) and op in self.views for v in op.args
        }
        self._buffers: dict[SSAValue, SSAValue] = {}
        self.parts_of: dict[SSAValue, list[SSAValue]] = {}
        for part, whole in self.parts.items():
            self.parts_of.setdefault(whole, []).append(part)
        last = block.last_op
        self.returned = {self.buffer(v) for v in last.operands} if isinstance(last, ReturnOp | YieldOp) else set()
        self.first: dict[SSAValue, int] = {}
        self.last: dict[SSAValue, int] = {}
        self.read_at: dict[SSAValue, set[int]] = {}
        for op in ops:
            self._note(op)

    def _note(self, op: Operation) -> None:
        """Record the buffers of other kernels that ``op`` reads."""
        for value in op.operands if op not in self.views else ():
            buffer = self.buffer(value)
            if self.is_free(buffer):
                continue
            first = min(map(self._computing_step, (buffer, *self.parts_of.get(buffer, ()))))
            if self.step[op] > first:
                self.first[buffer] = first
                self.last[buffer] = max(self.step[op], self.last.get(buffer, 0))
                self.read_at.setdefault(buffer, set()).add(self.step[op])

    def _computing_step(self, value: SSAValue) -> int:
        """Return the step that computes a value."""
        assert isinstance(value.owner, Operation)
        return self.step[value.owner]

    def buffer(self, value: SSAValue) -> SSAValue:
        """Return the value whose buffer contains ``value``, as a view or a part of it."""
        if value not in self._buffers:
            self._buffers[value] = self._buffer(value)
        return self._buffers[value]

    def _buffer(self, value: SSAValue) -> SSAValue:
        while (
            isinstance(value.owner, Operation) and value.owner in self.views and not isinstance(value.owner, ConcatOp)
        ):
            value = value.owner.operands[0]
        return self._buffer(self.parts[value]) if value in self.parts else value

    def is_free(self, buffer: SSAValue) -> bool:
        return (
            not isinstance(buffer.owner, Operation)
            or isinstance(buffer.owner, WeightOp | ConstantOp)
            or buffer in self.returned
        )

    def readers(self, value: SSAValue) -> Iterator[tuple[Operation, bool]]:
        """Yield the operators that read the memory of ``value``, and whether each reads it through a view."""
        for use in value.uses:
            if use.operation in self.views:
                yield from ((op, True) for op, _ in self.readers(use.operation.results[0]))
            else:
                yield use.operation, False

    def boundary(self) -> int:
        """Return the step after which the buffers that are written before and read later have the most bytes."""
        change = [0] * (len(self.order) + 1)
        for buffer, first in self.first.items():
            change[first] += size(buffer)
            change[self.last[buffer]] -= size(buffer)
        most = now = at = 0
        for step, each in enumerate(change):
            now += each
            if now > most:
                most, at = now, step
        return at

    def crossing(self, step: int) -> list[SSAValue]:
        """Return the buffers that are written up to ``step`` and read after it."""
        return [v for v, first in self.first.items() if first <= step < self.last[v]]

    def reads(self, item: Item) -> set[SSAValue]:
        """Return the buffers of other kernels that a kernel reads."""
        ops = ops_of(item)
        return {b for op in ops for v in op.operands if (b := self.buffer(v)).owner not in ops}


def size(value: SSAValue) -> int:
    """Return the bytes of a value, for assumed values of symbolic dimensions."""
    size = bytes_of(value)
    found = evaluate(size, dict.fromkeys(symbols_of([size]), PLANNED))
    assert isinstance(found, int)
    return found
