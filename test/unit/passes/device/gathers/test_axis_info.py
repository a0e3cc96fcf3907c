"""Axis information of index arithmetic, against the numbers that it computes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType, i32
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.passes.device.gathers.axis_info import FirstNeighbours, are_neighbours

STEPS, PIXELS = 32, 4
NUMPY: dict[type[Operation], Callable[[Any, Any], Any]] = {
    arith.AddiOp: operator.add, arith.SubiOp: operator.sub, arith.MuliOp: operator.mul,
    arith.FloorDivSIOp: operator.floordiv,
}  # fmt: skip


class Arithmetic:
    """Vectors of steps × pixels in a block, and their numbers."""

    def __init__(self) -> None:
        self.block = Block()

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def steps(self) -> SSAValue:
        return self.wide(self.add(kernel.StepOp(VectorType(i32, [STEPS, 1]))))

    def pixels(self) -> SSAValue:
        return self.wide(self.add(kernel.StepOp(VectorType(i32, [PIXELS]))))

    def number(self, value: int) -> SSAValue:
        constant = self.add(arith.ConstantOp(IntegerAttr(value, IndexType())))
        return self.wide(self.add(arith.IndexCastOp(constant, i32)))

    def wide(self, value: SSAValue) -> SSAValue:
        return self.add(vector.BroadcastOp(value, VectorType(i32, [STEPS, PIXELS])))

    def channels_last(self, start: int, channels: int, window: int, row: int) -> SSAValue:
        """The offsets of terms (ky, kx, c) and of pixels: as of a convolution on NHWC."""
        k = self.add(arith.AddiOp(self.steps(), self.number(start)))
        outer = self.add(arith.FloorDivSIOp(k, self.number(channels * window)))
        rest = self.add(arith.MuliOp(outer, self.number(row - channels * window)))
        at = self.add(arith.MuliOp(self.pixels(), self.number(channels)))
        return self.add(arith.AddiOp(self.add(arith.AddiOp(rest, k)), at))


def numbers(value: SSAValue) -> np.ndarray[Any, Any]:
    op = value.owner
    match op:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return np.asarray(number.value.data)
        case kernel.StepOp():
            shape = op.result.type.get_shape()  # type: ignore[attr-defined]
            return np.arange(np.prod(shape)).reshape(shape)
        case arith.IndexCastOp():
            return numbers(op.operands[0])
        case vector.BroadcastOp():
            return np.broadcast_to(numbers(op.source), op.vector.type.get_shape())  # type: ignore[attr-defined]
    assert isinstance(op, Operation)
    return np.asarray(NUMPY[type(op)](*map(numbers, op.operands)))


def of_neighbours(offsets: np.ndarray[Any, Any], count: int) -> bool:
    """Whether the numbers are consecutive and aligned, along the first axis."""
    groups = offsets.reshape(STEPS // count, count, PIXELS)
    steps = np.arange(count).reshape(1, count, 1)
    return bool((groups == groups[:, :1] + steps).all() and (groups[:, 0] % count == 0).all())


@pytest.mark.parametrize("channels, known", [(8, 8), (24, 8), (64, 8), (12, 4), (20, 4), (6, 2), (5, 1)])
def test_channels_of_a_pixel_are_neighbours(channels: int, known: int) -> None:
    made = Arithmetic()
    offsets = made.channels_last(64, channels, 3, 17 * channels)
    found = [n for n in (8, 4, 2) if are_neighbours(offsets, 0, n)]
    assert max(found, default=1) == known and all(of_neighbours(numbers(offsets), n) for n in found)


def test_what_is_said_holds() -> None:
    """Of random expressions; a third or more have neighbours, and some have none."""
    random, said = np.random.default_rng(), []
    for _ in range(200):
        made = Arithmetic()
        values = [made.channels_last(int(random.integers(5)) * 8, int(random.choice([4, 8, 12])), 3, 96)]
        for _ in range(int(random.integers(1, 4))):
            kind = [*NUMPY][random.integers(4)]
            other = [made.pixels, made.steps, lambda: made.number(int(random.choice([0, 1, 4, 8, 24])))][  # noqa: B023
                random.integers(3)
            ]()
            if kind is arith.FloorDivSIOp and not numbers(other).all():
                continue
            values.append(made.add(kind(values[-1], other)))
        count = int(random.choice([4, 8]))
        said.append(are_neighbours(values[-1], 0, count))
        assert not said[-1] or of_neighbours(numbers(values[-1]), count)
    assert any(said) and not all(said)


@pytest.mark.parametrize("count", [4, 8])
def test_first_neighbours(count: int) -> None:
    made = Arithmetic()
    offsets = made.channels_last(32, 24, 3, 24 * 19)
    first = FirstNeighbours(-2, count, made.block, {}, made.block.add_op).of(offsets)
    np.testing.assert_array_equal(numbers(first), numbers(offsets)[::count])
