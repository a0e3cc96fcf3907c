"""fuse-stencils: windows are read where they are, in every box of the result; other maps stay."""

from __future__ import annotations

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import ComputeOp, ConcatOp, MapOp, PiecewiseOp, SliceOp, source_nodes
from mlc.dialects.types import shape_of
from mlc.passes.graph.fuse_stencils import FuseStencils


def window(b: GraphBuilder, x: SSAValue, *ranges: tuple[int, int], steps: tuple[int, ...] | None = None) -> SSAValue:
    steps = steps or (1,) * len(ranges)
    return b.add(SliceOp(x, [s for s, _ in ranges], [n for _, n in ranges], steps))


def rolled(b: GraphBuilder, x: SSAValue, by: int, axis: int) -> SSAValue:
    shape = [int(d) for d in shape_of(x)]  # type: ignore[arg-type]
    cut = (-by) % shape[axis]
    def part(start, size):
        return window(b, x, *[(start, size) if n == axis else (0, d) for n, d in enumerate(shape)])
    return b.add(ConcatOp([part(cut, shape[axis] - cut), part(0, cut)], axis))


def test_windows_become_reads_at_offsets() -> None:
    b = GraphBuilder()
    x, bias = b.input(5, 9), b.input(7)
    left, right = window(b, x, (0, 5), (0, 7)), window(b, x, (0, 5), (2, 7))
    module = check(b, [b.add(MapOp("x0 * 2 - x1 + x2", [left, right, bias]))], FuseStencils())
    (op,) = ops(module, ComputeOp)
    assert op.expr.data == "(((x0[i0, i1] * 2) - x0[i0, (i1 + 2)]) + x1[i1])"
    assert source_nodes(op) and not ops(module, SliceOp)


def test_strides_and_windows_of_windows() -> None:
    b = GraphBuilder()
    x = b.input(9, 12)
    inner = window(b, x, (8, 9), (1, 10), steps=(-1, 1))
    one, other = window(b, inner, (0, 8), (0, 5), steps=(1, 2)), window(b, inner, (1, 8), (1, 5), steps=(1, 2))
    module = check(b, [b.add(MapOp("x0 - x1", [one, other]))], FuseStencils())
    (op,) = ops(module, ComputeOp)
    assert op.expr.data == "(x0[((i0 * -1) + 8), ((i1 * 2) + 1)] - x0[((i0 * -1) + 7), ((i1 * 2) + 2)])"


def test_a_periodic_stencil_has_a_box_for_each_edge_and_corner() -> None:
    b = GraphBuilder()
    x, row = b.input(6, 7), b.input(6, 1)
    shifts = [rolled(b, x, by, axis) for by in (1, -1) for axis in (0, 1)]
    y = b.add(MapOp("x0 + x1 * x2 - x3 / x4 + x5", [x, *shifts, row]))
    module = check(b, [y], FuseStencils())
    (op,) = ops(module, PiecewiseOp)
    assert op.boxes[4] == ((1, 1), (4, 5)) and len(op.boxes) == 9
    assert not ops(module, ConcatOp)


@pytest.mark.parametrize("seed", range(8))
def test_random_stencils(seed: int) -> None:
    random = np.random.default_rng(seed)
    b = GraphBuilder()
    shape = [int(d) for d in random.integers(3, 8, random.integers(1, 4))]
    x, operands = b.input(*shape), []
    for _ in range(random.integers(2, 5)):
        y = x
        for _ in range(random.integers(1, 3)):
            y = rolled(b, y, int(random.integers(-2, 3)) or 1, int(random.integers(len(shape))))
        operands.append(y)
    operands.append(b.input(*(d if random.random() < 0.5 else 1 for d in shape[random.integers(len(shape)) :])))
    expr = " + ".join(f"{n + 2} * x{n}" for n in range(len(operands)))
    check(b, [b.add(MapOp(expr, operands))], FuseStencils())


def test_what_is_no_stencil_stays() -> None:
    b = GraphBuilder()
    x = b.input(4, 8)
    low, high = window(b, x, (0, 4), (0, 4)), window(b, x, (0, 4), (4, 4))
    halves = b.add(MapOp("x0 * x1", [low, high]))  # disjoint windows
    turned = b.add(MapOp("x0 + x1", [x, b.add(ConcatOp([high, low], 1))]))
    once = b.add(MapOp("exp(x0)", [window(b, x, (1, 3), (2, 5))]))
    open_ = b.input("n", 8)
    longer = b.add(MapOp("x0 + x1", [window(b, open_, (0, 1), (0, 7)), window(b, open_, (0, 1), (1, 7))]))
    module = check(b, [halves, turned, once, longer], FuseStencils())
    assert len(ops(module, MapOp)) == 4
