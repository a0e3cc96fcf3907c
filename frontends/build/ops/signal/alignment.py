"""Alignment of sequences: dynamic time warping (Sakoe and Chiba, 1978). Source: onnxruntime's DynamicTimeWarping."""

from __future__ import annotations

from mlc.dialects.semantics.dims import Dim
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.tensors import Tensor

BOTH, ROW, COLUMN = range(3)  # how the cheapest path comes to an element: by a step in both, of rows, of columns


def time_warping(build: Builder, costs: Tensor) -> Tensor:
    """[2, L] of i64: the rows and columns, in order, of the cheapest path from the first to the last of ``costs``.

    A loop over antidiagonals, whose elements do not depend on each other; then one that goes back over them. A step in
    both directions is taken where it is cheaper than either other one, one of rows where it is cheaper than either,
    and else one of columns.
    """
    rows, columns = costs.shape
    steps = rows + columns - 1
    infinite = build.broadcast(build.constant(float("inf"), costs.element), (rows,))

    def diagonal(d: Dim, states: list[Tensor]) -> Iteration:
        both = f"where(i0 == 0, where({d} == 0, {costs.element}(0), inf), x0[max(i0 - 1, 0)])"
        row, column = "where(i0 == 0, inf, x1[max(i0 - 1, 0)])", "x1[i0]"
        chosen = "where(({0} < {1}) & ({0} < {2}), {3}, where(({1} < {0}) & ({1} < {2}), {4}, {5}))".format
        before = chosen(both, row, column, both, row, column)
        inside = f"({d} - i0 >= 0) & ({d} - i0 < {columns})"
        cost = f"where({inside}, x2[i0, min(max({d} - i0, 0), {columns} - 1)] + {before}, inf)"
        how = chosen(both, row, column, *(f"i64({step})" for step in (BOTH, ROW, COLUMN)))
        reached = build.compute(cost, [*states, costs], (rows,))
        return Iteration([states[1], reached], [build.compute(how, states, (rows,))], [d])

    _, _, steps_to = emit_loop(build, steps, [infinite, infinite], diagonal)
    return _path(build, steps_to, rows - 1, columns - 1)


def _path(build: Builder, steps_to: Tensor, row: Dim | int, column: Dim | int) -> Tensor:
    """[2, L]: the path back from one element, by the direction in which each element [antidiagonal, row] was
    reached.
    """
    trips = steps_to.shape[0]

    def back(n: Dim, states: list[Tensor]) -> Iteration:
        (at,) = states
        how = "x1[max(x0[0] + x0[1], 0), max(x0[0], 0)]"
        on = "(x0[0] >= 0) & (x0[1] >= 0)"
        moves = f"i64(where(i0 == 0, {how} != {COLUMN}, {how} != {ROW}))"
        return Iteration([build.compute(f"where({on}, x0[i0] - {moves}, -1)", [at, steps_to], (2,))], [at], [n])

    _, positions = emit_loop(build, trips, [Tensor.of_dims([row, column])], back)
    kept = build.compute("i64((x0[i0, 0] >= 0) & (x0[i0, 1] >= 0))", [positions], (trips,))
    length = build.dim(build.scalars.of(build.reduce("add", kept, [0])).item(), "the length of the path", trips)
    return build.compute(f"x0[({length}) - 1 - i1, i0]", [positions], (2, length))
