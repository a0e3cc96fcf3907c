"""Index-set splitting (``split-loops``; Griebl, Feautrier and Lengauer, 2000; LLVM: inductive range check elimination):
the blocks of a stream in which a mask excludes nothing get a separate loop, without the mask.

    %r = scf.for %j = %lb to %ub iter_args(%a = %x) {        %m = min(⌊(%row - 63) / 64⌋ + 1, %ub)
      %in = (64·%j + step) <= (%row + step)                  %s = scf.for %j = %lb to %m iter_args(%a = %x) { … %v … }
      … select(%in, %v, -inf) … }                      →     %r = scf.for %j = %m to %ub iter_args(%a = %s) {
                                                               … select(%in, %v, -inf) … }

A condition compares linear functions of the loop's variable and of a tile's points. The iterations in which it holds at
all points are an interval; before and after it the loop is not changed. Each loop carries its values to the next, and
copies in flight continue from one to the next, because the pass runs after ``pipeline-copies``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of
from mlc.dialects.semantics.dims import DimLike, ceildiv, dim_max, dim_min, floordiv
from mlc.passes.device.distribution.value_classes import extents
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.streaming.values.index_ranges import Condition, IndexRanges
from mlc.passes.effects import erase_dead
from mlc.passes.loops.index.index_builder import IndexBuilder


@dataclass(frozen=True)
class SplitLoops(ModulePass):
    name = "split-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            if any(nest.streamed for nest in schedule_of(fn)):
                for loop in [o for o in fn.walk() if isinstance(o, scf.ForOp) and _is_stream(o)]:
                    ranges = IndexRanges(loop)
                    if selects := _selects(ranges):
                        _Split(loop, ranges, selects).run()


def _is_stream(loop: scf.ForOp) -> bool:
    return isinstance(loop.parent_op(), scf.ParallelOp) and constant_of(loop.step) == 1


Selects = dict[tuple[Condition, ...], list[int]]
"""The positions, in a loop's body, of the selections under equal conditions."""


def _selects(ranges: IndexRanges) -> Selects:
    found: Selects = {}
    for n, op in enumerate(ranges.loop.body.block.ops):
        if isinstance(op, kernel.LanewiseOp) and op.op.data == "arith.select" and (c := ranges.conditions(op.args[0])):
            found.setdefault(c, []).append(n)
    return found


@dataclass
class _Split:
    loop: scf.ForOp
    ranges: IndexRanges
    selects: Selects
    scratch: Block = field(default_factory=Block)

    def run(self) -> None:
        """Replace the loop by three: before, in and after the iterations in which most selections are unnecessary."""
        conditions = max(self.selects, key=lambda each: len(self.selects[each]))
        low, high = map(self.ranges.symbol, (self.loop.lb, self.loop.ub))
        bounds = (low, *_interval(conditions, low, high), high)
        build = IndexBuilder(self.scratch, self.ranges.env)
        values = [build.dim(each) for each in bounds]
        for op in list(self.scratch.ops):
            op.detach()
            self._insert(op)
        carried: Sequence[SSAValue] = self.loop.iter_args
        whole = list(self._limits(conditions))
        for n in range(3):
            if bounds[n] != bounds[n + 1]:
                piece = self._piece(values[n], values[n + 1], carried)
                if n == 1:
                    _free(piece, self.selects[conditions], whole)
                carried = piece.results
        for old, new in zip(self.loop.results, carried, strict=True):
            old.replace_all_uses_with(new)
        Rewriter.erase_op(self.loop)

    def _insert(self, op: Operation) -> None:
        assert self.loop.parent is not None
        self.loop.parent.insert_op_before(op, self.loop)

    def _limits(self, conditions: Sequence[Condition]) -> Iterator[tuple[int, int]]:
        """Yield the positions of reads, with each axis along which all points are valid if ``conditions`` hold."""
        reads = [(n, op) for n, op in enumerate(self.loop.body.block.ops) if isinstance(op, kernel.ReadOp)]
        for n, op in reads:
            for axis, value in kernel.valid_of(op).items():
                limit = self.ranges.of(value)
                if limit and (limit[0], limit[1] - extents(op.result)[axis]) in conditions:
                    yield n, axis

    def _piece(self, start: SSAValue, stop: SSAValue, carried: Sequence[SSAValue]) -> scf.ForOp:
        """Return a copy of the loop from ``start`` to ``stop``."""
        copy = self.loop.clone()
        copy.operands = [start, stop, copy.step, *carried]
        self._insert(copy)
        return copy


def _free(piece: scf.ForOp, selects: Sequence[int], whole: Sequence[tuple[int, int]]) -> None:
    """Replace the selections at some positions by their first values, and remove the limits of reads along ``whole``
    axes."""
    ops = list(piece.body.block.ops)
    for n in selects:
        select = ops[n]
        assert isinstance(select, kernel.LanewiseOp)
        select.result.replace_all_uses_with(select.args[1])
    for n, axes in itertools.groupby(whole, lambda each: each[0]):
        read = ops[n]
        assert isinstance(read, kernel.ReadOp)
        _remove_limits(read, [axis for _, axis in axes])
    erase_dead(piece.body.block.ops)


def _remove_limits(read: kernel.ReadOp, axes: Sequence[int]) -> None:
    left = {axis: v for axis, v in kernel.valid_of(read).items() if axis not in axes}
    new = kernel.ReadOp(read.buffer, read.offset, read.mixed_strides, read.result.type, valid=left)
    assert read.parent is not None
    read.parent.insert_op_before(new, read)
    read.result.replace_all_uses_with(new.result)
    Rewriter.erase_op(read)


def _interval(conditions: Sequence[Condition], low: DimLike, high: DimLike) -> tuple[DimLike, DimLike]:
    """Return the first iteration in which all conditions hold at each point, and the one after the last."""
    first, last = low, high
    for factor, rest in conditions:  # factor * j + rest >= 0
        if factor > 0:
            first = dim_max(first, dim_min(ceildiv(-rest, factor), high))
    for factor, rest in conditions:
        if factor < 0:
            last = dim_max(first, dim_min(last, floordiv(rest, -factor) + 1))
    return first, last
