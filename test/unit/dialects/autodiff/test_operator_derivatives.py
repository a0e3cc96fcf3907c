"""The derivative of each graph operator, and its derivative, against central differences in float64; and the rules of
named operators against that of their statements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from graph_slopes import Emit, check, module_of, run
from operator_cases import CASES, WITHOUT, Maker, normal
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.autodiff import NoDerivative, operators
from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    Graph,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    with_nodes,
)
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.types import element_of_dtype, tensor


def squared(op: Maker) -> Callable[..., SSAValue]:
    """The operator, of the cubes of its first operand, squared: then its derivative reads operands and result."""

    def make(emit: Emit, x: SSAValue, *rest: SSAValue) -> SSAValue:
        y = emit(op(emit(MapOp("x0 * x0 * x0", [x])), *rest))
        return emit(MapOp("x0 * x0", [y]))

    return make


def test_each_operator_has_a_case_or_a_reason() -> None:
    made = set()
    for op, arrays in CASES.values():
        block = Block(arg_types=[tensor(element_of_dtype(a.dtype), a.shape) for a in arrays])
        made.add(op(*block.args).name)
    assert made | WITHOUT.keys() == {op.name for op in Graph.operations}
    assert not made & WITHOUT.keys()


@pytest.mark.parametrize("case", CASES)
def test_first_and_second_derivatives(case: str) -> None:
    op, arrays = CASES[case]
    check(squared(op), *arrays, rtol=2e-5)


NO_SUM = ("max", "min", "prod", "maxima", "greatest", "scatter", "running", "cholesky", "lu",
          "triangular")


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
    lambda x, i: MapOp("as_f64(as_i64(x0))", [x]),
])  # fmt: skip
def test_no_derivative(op: Maker) -> None:
    with pytest.raises(NoDerivative, match="has no derivative, at node 'here'"):
        module_of(lambda emit, x, i: emit(_named(op(x, i))), [("f64", (2, 3)), ("i64", (2,))], 1, [0])
