"""Insertion of operations before an operation, and the arithmetic of rings of buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

from mlc.passes.device.loops.index import constant, number


@dataclass(frozen=True)
class Inserter:
    """A builder that inserts operations before ``place``."""

    place: Operation

    def add(self, op: Operation) -> Operation:
        assert isinstance(self.place.parent, Block)
        self.place.parent.insert_op_before(op, self.place)
        return op

    def index(self, value: int) -> SSAValue:
        return constant(value, self.add)


def next_slot(add: Callable[[Operation], object], slot: SSAValue, depth: int, step: int) -> tuple[SSAValue, SSAValue]:
    """Return the buffer after ``slot`` in a ring, or before it with a step of -1; and whether the ring begins again
    there."""
    end, start = (depth - 1, 0) if step == 1 else (0, depth - 1)
    add(moved := arith.AddiOp(slot, number(step, add)))
    add(wraps := arith.CmpiOp(slot, number(end, add), "eq"))
    add(chosen := arith.SelectOp(wraps.result, number(start, add), moved.result))
    return chosen.result, wraps.result
