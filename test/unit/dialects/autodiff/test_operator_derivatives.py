"""The derivative of each graph operator, and its derivative, against central differences in float64; and the rules of
named operators against that of their statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from graph_slopes import Emit, check, module_of, run
from xdsl.ir import Operation, SSAValue

from mlc.dialects.autodiff import NoDerivative, operators
from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    ConvTransposeOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    ScatterOp,
    SliceOp,
    TransposeOp,
    with_nodes,
)
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.semantics.evaluate import Array

Maker = Callable[..., Operation]


def normal(*shape: int, seed: int = 3) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def squared(op: Maker) -> Callable[..., SSAValue]:
    """The operator, of the cubes of its first operand, squared: then its derivative reads operands and result."""

    def make(emit: Emit, x: SSAValue, *rest: SSAValue) -> SSAValue:
        y = emit(op(emit(MapOp("x0 * x0 * x0", [x])), *rest))
        return emit(MapOp("x0 * x0", [y]))

    return make


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
    "scatter, added": (lambda x, i, u: ScatterOp("add", x, i, u), [normal(4, 2), positions(3, 0, 3), normal(3, 2)]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_first_and_second_derivatives(case: str) -> None:
    op, arrays = CASES[case]
    check(squared(op), *arrays, rtol=2e-5)


NO_SUM = ("max", "min", "prod", "maxima", "greatest", "scatter", "running")


@pytest.mark.parametrize("case", [c for c in CASES if not c.startswith(NO_SUM)])
def test_rules_are_those_of_the_statements(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op, arrays = CASES[case]
    types = [({"f": "f64", "i": "i64"}[a.dtype.kind], a.shape) for a in arrays]
    floats = [n for n, a in enumerate(arrays) if a.dtype.kind == "f"]
    right = run(module_of(squared(op), types, 1, floats), arrays, {})
    monkeypatch.setattr(operators, "RULES", {})
    for actual, wanted in zip(run(module_of(squared(op), types, 1, floats), arrays, {}), right, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-12, atol=1e-12)


SYMBOLIC = {
    "map": (lambda x, b: MapOp("x0 * x1", [x, b]), [["n", 3], ["n", 1]]),
    "sum": (lambda x: ReduceOp("add", x, [0]), [["n", 3]]),
    "max": (lambda x: ReduceOp("max", x, [0]), [["n", 3]]),
    "prod": (lambda x: ReduceOp("mul", x, [0]), [["n", 3]]),
    "contract": (lambda a, b: ContractOp("mk,kn->mn", a, b), [["n", "2*n"], ["2*n", 3]]),
    "reshape": (lambda x: ReshapeOp(x, [3, Dim.symbol("n")]), [["n", 3]]),
    "slice": (lambda x: SliceOp(x, [0, 1], [Dim.symbol("n") - 1, 1], [1, 1]), [["n", 3]]),
    "pad": (lambda x: PadOp(x, [Dim.symbol("n"), 0], [0, 1]), [["n", 3]]),
    "concat": (lambda x, y: ConcatOp([x, y], 0), [["n", 3], [2, 3]]),
    "conv": (lambda x, w: ConvOp(x, w, [2], [1]), [["n", 2, "2*n"], [3, 2, 3]]),
    "conv, pointwise": (lambda x, w: ConvOp(x, w, [2], [1]), [["n", 2, "2*n"], [3, 2, 1]]),
    "windows": (lambda x: PoolOp("add", x, [2], [2], [1]), [["n", 1, "2*n"]]),
    "gather": (lambda x: ComputeOp("x0[i0 // 2, i1]", [x], [Dim.symbol("n"), 3]), [["n", 3]]),
}


@pytest.mark.parametrize("case", SYMBOLIC)
@pytest.mark.parametrize("n", [2, 5])
def test_symbolic_shapes(case: str, n: int) -> None:
    op, strings = SYMBOLIC[case]
    sizes = {"n": n, "2*n": 2 * n}
    dims = {"n": Dim.symbol("n"), "2*n": 2 * Dim.symbol("n")}
    arrays = [normal(*(sizes.get(d, d) for d in text)) for text in strings]  # type: ignore[arg-type, misc]
    shapes = [[dims.get(d, d) for d in text] for text in strings]  # type: ignore[call-overload]
    check(squared(op), *arrays, shapes=shapes, symbols={"n": n}, order=1)


def test_ties_of_a_reduction_share() -> None:
    x = np.array([[1.0, 3, 3, 3, 2], [4, 4, 0, 1, 4]])
    module = module_of(lambda emit, x: emit(ReduceOp("max", x, [1])), [("f64", x.shape)], 1, [0])
    thirds = np.array([[0, 1, 1, 1, 0], [1, 1, 0, 0, 1]]) / 3
    np.testing.assert_allclose(run(module, [x], {})[0], thirds * [[1], [1.3]])


def test_what_is_read_twice_adds_up() -> None:
    check(lambda emit, x: emit(MapOp("x0 * sin(x0)", [emit(MapOp("x0 + x1 * x0", [x, x]))])), normal(3, 2), order=2)


def test_sixteen_bits_are_summed_in_thirty_two() -> None:
    module = module_of(lambda emit, x: emit(BroadcastOp(x, [4096, 1])), [("f16", (1, 1))], 1, [0])
    assert any(op.name == "graph.reduce" and "f32" in str(op.results[0].type) for op in module.walk())


def _named(op: Operation) -> Operation:
    return with_nodes(op, ["here"])


@pytest.mark.parametrize("op", [
    lambda x, i: ScatterOp("max", x, i, x),
    lambda x, i: MapOp("as_f64(as_i64(x0))", [x]),
])  # fmt: skip
def test_no_derivative(op: Maker) -> None:
    with pytest.raises(NoDerivative, match="has no derivative, at node 'here'"):
        module_of(lambda emit, x, i: emit(_named(op(x, i))), [("f64", (2, 3)), ("i64", (2,))], 1, [0])
