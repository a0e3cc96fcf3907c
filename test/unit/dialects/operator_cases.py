"""Operators of the graph dialect that have derivatives, with operands: for tests of derivatives and of batching.

Each operator of the dialect has a case here, or a reason in ``WITHOUT``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Operation

from mlc.dialects.graph import (
    BroadcastOp,
    CholeskyOp,
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    ConvTransposeOp,
    LuOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    ScatterOp,
    SliceOp,
    TransposeOp,
    TriangularSolveOp,
)
from mlc.dialects.semantics.evaluate import Array

Maker = Callable[..., Operation]


def normal(*shape: int, seed: int = 3) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def positive_definite(count: int, n: int) -> Array:
    """Such that their cubes, element by element, are positive definite as well."""
    return normal(count, n, n) / 2 + 3 * np.eye(n)


def positions(*values: int) -> Array:
    return np.array(values, "i8")


CASES: dict[str, tuple[Maker, Sequence[Array]]] = {
    "map": (lambda x, b: MapOp("exp(x0) * x1", [x, b]), [normal(3, 4), normal(4, seed=5)]),
    "map, stretched": (lambda x, b: MapOp("x0 / (2 + x1 * x1)", [x, b]), [normal(3, 1), normal(2, 1, 4)]),
    "reshape": (lambda x: ReshapeOp(x, [4, 3]), [normal(2, 6)]),
    "transpose": (lambda x: TransposeOp(x, [2, 0, 1]), [normal(2, 3, 4)]),
    "broadcast": (lambda x: BroadcastOp(x, [2, 3, 4]), [normal(3, 1)]),
    "slice": (lambda x: SliceOp(x, [1, 0], [2, 3], [1, 1]), [normal(4, 3)]),
    "slice, steps": (lambda x: SliceOp(x, [5, 1], [3, 2], [-2, 3]), [normal(7, 6)]),
    "slice, empty": (lambda x: SliceOp(x, [1, 0], [0, 3], [1, 1]), [normal(4, 3)]),
    "pad": (lambda x: PadOp(x, [1, 0], [2, 3], "0.5"), [normal(3, 2)]),
    "pad, interior": (lambda x: PadOp(x, [1, 0], [0, 1], "0", [1, 2]), [normal(3, 2)]),
    "concat": (lambda x, y: ConcatOp([x, y, x], 1), [normal(2, 3), normal(2, 1)]),
    "sum": (lambda x: ReduceOp("add", x, [1]), [normal(2, 3, 2)]),
    "max": (lambda x: ReduceOp("max", x, [0, 2], True), [normal(2, 3, 2)]),
    "min": (lambda x: ReduceOp("min", x, [1]), [normal(2, 3)]),
    "prod": (lambda x: ReduceOp("mul", x, [0, 2]), [normal(2, 3, 2)]),
    "prod of zeros": (lambda x: ReduceOp("mul", x, [1], True), [normal(2, 3) * [[0, 1, 1], [0, 0, 1]]]),
    "contract": (lambda a, b: ContractOp("bmk,bkn->bmn", a, b), [normal(2, 3, 4), normal(2, 4, 2)]),
    "contract, stretched": (lambda a, b: ContractOp("bmk,bkn->bnm", a, b), [normal(1, 3, 4), normal(2, 1, 2)]),
    "contract, summed": (lambda a, b: ContractOp("mk,n->m", a, b), [normal(3, 4), normal(2)]),
    "conv": (lambda x, w: ConvOp(x, w, [1, 1], [1, 1]), [normal(2, 2, 4, 3), normal(3, 2, 2, 2)]),
    "conv, strides": (lambda x, w: ConvOp(x, w, [2], [1]), [normal(1, 2, 8), normal(3, 2, 3)]),
    "conv, phases": (lambda x, w: ConvOp(x, w, [2, 3], [1, 1]), [normal(2, 3, 8, 9), normal(4, 3, 3, 2)]),
    "conv, pointwise": (lambda x, w: ConvOp(x, w, [2, 2], [1, 1]), [normal(2, 3, 6, 5), normal(4, 3, 1, 1)]),
    "conv, dilations": (lambda x, w: ConvOp(x, w, [3], [2]), [normal(2, 1, 12), normal(2, 1, 3)]),
    "conv, groups": (lambda x, w: ConvOp(x, w, [2, 1], [1, 2], 2), [normal(2, 4, 4, 4), normal(6, 2, 2, 2)]),
    "conv_transpose": (lambda x, w: ConvTransposeOp(x, w, [2], [1]), [normal(1, 2, 5), normal(2, 3, 2, 2)]),
    "sums of windows": (lambda x: PoolOp("add", x, [3, 2], [2, 1], [1, 2]), [normal(1, 2, 6, 5)]),
    "maxima of windows": (lambda x: PoolOp("max", x, [3], [2], [1]), [normal(2, 1, 8)]),
    "gather": (lambda x, i: ComputeOp("x0[x1[i0], i1]", [x, i], [4, 3]), [normal(5, 3), positions(3, 0, 3, 1)]),
    "gather inside": (lambda x, i: ComputeOp("x0[i0, x1[i0, i1]]", [x, i], [2, 2]),
                      [normal(2, 4), positions(3, 0, 2, 2).reshape(2, 2)]),
    "diagonal": (lambda x: ComputeOp("x0[i0, i0]", [x], [3]), [normal(3, 3)]),
    "one row": (lambda x: ComputeOp("x0[1, i0] * f64(i0 + 1)", [x], [3]), [normal(2, 3)]),
    "repeated": (lambda x: ComputeOp("x0[i0 // 2]", [x], [7]), [normal(4)]),
    "sliding": (lambda x: ComputeOp("x0[i0 + r0] * x0[7 - 2*i0]", [x], [3], [2], "add"), [normal(8)]),
    "sum of a gather": (lambda x, i: ComputeOp("x0[x1[i0, r0], 1]", [x, i], [2], [3], "add"),
                        [normal(4, 2), positions(3, 0, 2, 2, 2, 1).reshape(2, 3)]),
    "greatest of computed": (lambda x: ComputeOp("x0[i0 + r0] * x0[r0]", [x], [3], [2], "max"), [normal(5)]),
    "product of computed": (lambda x: ComputeOp("x0[i0, r0] + x0[i0, 0]", [x], [2], [3], "mul"), [normal(2, 3)]),
    "running sums": (lambda x: ScanOp("add", x, False, True), [normal(2, 3, 2)]),
    "running sums before": (lambda x: ScanOp("add", x, True, False), [normal(1, 4, 2)]),
    "scatter": (lambda x, i, u: ScatterOp("none", x, i, u), [normal(5, 2), positions(3, 0, 7), normal(3, 2)]),
    "scatter, multiplied": (
        lambda x, i, u: ScatterOp("mul", x, i, u),
        [normal(4, 2), positions(3, 0, 3, 9, 3), normal(5, 2)],
    ),
    "scatter, multiplied by 0": (
        lambda x, i, u: ScatterOp("mul", x, i, u),
        [normal(3, 2), positions(0, 1, 1, 1, 1), np.array([[0, 1], [2, 0], [0, 0], [3, 2], [2, 3.0]])],
    ),
    "scatter, greatest": (lambda x, i, u: ScatterOp("max", x, i, u), [normal(4, 2), positions(3, 0, 3), normal(3, 2)]),
    "scatter, least": (lambda x, i, u: ScatterOp("min", x, i, u), [normal(4, 2), positions(3, 0, 7), normal(3, 2)]),
    "scatter, added": (lambda x, i, u: ScatterOp("add", x, i, u), [normal(4, 2), positions(3, 0, 3), normal(3, 2)]),
    "cholesky": (lambda x: CholeskyOp(x), [positive_definite(2, 4)]),
    "lu": (lambda x: LuOp(x), [normal(2, 3, 3)]),
    **{
        f"triangular_solve, {word}": (
            lambda a, b, flags=flags: TriangularSolveOp(a, b, *flags),
            [normal(2, 3, 3) + 3 * np.eye(3), normal(2, 3, 2)],
        )
        for word, flags in {
            "lower": (True, False, False),
            "upper": (False, False, False),
            "lower, transposed": (True, False, True),
            "upper, transposed": (False, False, True),
            "unit": (True, True, False),
            "unit, transposed": (True, True, True),
        }.items()
    },
}  # fmt: skip

WITHOUT = {
    "graph.argsort": "integers",
    "graph.bitcast": "integers",
    "graph.constant": "has no operands",
    "graph.coupling": "an iteration that stops on a condition",
    "graph.forest": "integers, and tables that are constants",
    "graph.if": "derivatives of regions: test_control_derivatives",
    "graph.loop": "derivatives of regions: test_control_derivatives",
    "graph.non_max_suppression": "integers",
    "graph.nonzero": "integers",
    "graph.pack": "made after differentiation, with layouts",
    "graph.piecewise": "made after differentiation, by fuse-stencils",
    "graph.random_draw": "a key of integers",
    "graph.routine": "strings, integers and images",
    "graph.run_counter": "has no operands",
    "graph.size": "integers",
    "graph.unpack": "made after differentiation, with layouts",
    "graph.weight": "has no operands",
    "graph.winograd_input": "made after differentiation, with layouts",
    "graph.winograd_output": "made after differentiation, with layouts",
    "graph.winograd_points": "made after differentiation, with layouts",
    "graph.winograd_rows": "made after differentiation, with layouts",
    "graph.winograd_sums": "made after differentiation, with layouts",
    "graph.winograd_tap_rows": "made after differentiation, with layouts",
    "graph.winograd_taps": "made after differentiation, with layouts",
    "graph.yield": "ends a region",
}
