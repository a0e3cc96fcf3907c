"""factor-sums and fuse-reductions: sums of terms with a common factor, and reductions that compute their terms."""

from __future__ import annotations

import pytest
from graph_checks import GraphBuilder, check, ops

from mlc.dialects.graph import ComputeOp, ConvOp, MapOp, ReduceOp
from mlc.dialects.types import shape_of
from mlc.passes.fuse.factor_sums import FactorSums
from mlc.passes.fuse.fuse_reductions import FuseReductions


@pytest.mark.parametrize(
    ("expr", "terms"),
    [
        ("neg(x0 * x2 * rsqrt(x3 + 1))", []),  # the sum of x0 alone
        ("x2 * (x0 - x1) + x2 * (x0 - x1)", ["(x0 - x1)"]),
        ("neg(x2 * (x0 - x1)) + neg(x3 * (x0 - x1))", ["(x0 - x1)"]),
        ("x3 * ((x0 - x1) * x2) / (x3 * x3 + 1)", ["(x0 - x1)"]),
        ("(x0 * x0) * 3", ["(x0 * x0)"]),
        ("x0 / (x0 * x0 + x2)", ["(x0 / ((x0 * x0) + x2))"]),  # nothing to factor
        ("x0 * x2 + x1", ["((x0 * x2) + x1)"]),
        ("max(x0 * x2, 0)", ["max((x0 * x2), 0)"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("keepdims", [False, True])
def test_a_factor_multiplies_the_sum(expr: str, terms: list[str], keepdims: bool) -> None:
    b = GraphBuilder()
    x, mean, scale, other = b.input("n", 3, 5), b.input(3, 1), b.input(1, 3, 1), b.input(3, 1)
    y = b.add(ReduceOp("add", b.add(MapOp(expr, [x, mean, scale, other])), [0, 2], keepdims))
    module = check(b, [y], FactorSums(), tolerance=1e-5)
    read = [o.input.owner for o in ops(module, ReduceOp)]
    assert [o.expr.data for o in read if isinstance(o, MapOp)] == terms


def test_sums_that_differ_by_a_factor_are_one() -> None:
    b = GraphBuilder()
    g, x, mean, scale = b.input(4, 3, 5), b.input(4, 3, 5), b.input(3, 1), b.input(3, 1)
    one = b.add(MapOp("x0 * ((x1 - x2) * x3)", [g, x, mean, scale]))
    other = b.add(MapOp("(x2 - x0) * x1 * -0.5", [mean, g, x]))
    sums = [b.add(ReduceOp("add", each, [0, 2])) for each in (one, other)]
    module = check(b, sums, FactorSums(), tolerance=1e-5)
    assert len(ops(module, ReduceOp)) == 1


def test_sums_that_stay() -> None:
    """Over trailing axes, in strict numerics, of integers, of extents that only the factor has, and products."""
    b = GraphBuilder()
    x, scale, whole = b.input(4, 3, 5), b.input(3, 1), b.input(4, 3, 5, element="i32")
    scaled = MapOp("x0 * x1", [x, scale])
    results = [
        b.add(ReduceOp("add", b.add(scaled.clone()), [2])),
        b.add(ReduceOp("add", b.add(MapOp("x0 * 3", [whole])), [0, 2])),
        b.add(ReduceOp("mul", b.add(scaled.clone()), [0, 2])),
        b.add(ReduceOp("add", b.add(MapOp("x0 * x1", [b.input(4, 1, 1), b.input(3, 5)])), [1])),
    ]
    module = check(b, results, FactorSums())
    found = [(o.fn.data, o.input.owner.expr.data) for o in ops(module, ReduceOp)]
    assert found == [("add", "(x0 * x1)"), ("add", "(x0 * 3)"), ("mul", "(x0 * x1)"), ("add", "(x0 * x1)")]
    strict = GraphBuilder()
    y = strict.add(ReduceOp("add", strict.add(MapOp("x0 * 2", [strict.input(4, 3)])), [0]))
    assert len(ops(check(strict, [y], FactorSums("strict")), MapOp)) == 1


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("monoid", ["add", "max"])
def test_a_reduction_computes_its_terms(monoid: str, keepdims: bool) -> None:
    b = GraphBuilder()
    x, y, scale = b.input("n", 3, 5, 2), b.input("n", 3, 5, 2), b.input(3, 1, 2)
    terms = b.add(MapOp("x0 * (x1 - x2)", [x, y, scale]))
    module = check(b, [b.add(ReduceOp(monoid, terms, [0, 2], keepdims))], FuseReductions(), tolerance=1e-5)
    (made,) = ops(module, ComputeOp)
    assert not ops(module, ReduceOp) + ops(module, MapOp)
    assert shape_of(made.results[0]) == ((1, 3, 1, 2) if keepdims else (3, 2))


def test_reductions_that_read_a_map() -> None:
    """Of trailing axes, of two readers, of an expensive function, and of the epilogue of a convolution."""
    b = GraphBuilder()
    x, w = b.input(2, 3, 5, 4), b.input(3, 3, 1, 1)
    twice = b.add(MapOp("x0 + 1", [x]))
    conv = b.add(ConvOp(x, w, [1, 1], [1, 1]))
    results = [
        b.add(ReduceOp("add", b.add(MapOp("x0 * x0", [x])), [2, 3])),
        b.add(ReduceOp("add", twice, [0, 2])),
        b.add(ReduceOp("max", twice, [0, 2])),
        b.add(ReduceOp("add", b.add(MapOp("exp(x0)", [x])), [0, 2])),
        b.add(ReduceOp("add", b.add(MapOp("max(x0, 0)", [conv])), [0, 2])),
    ]
    assert not ops(check(b, results, FuseReductions(), tolerance=1e-5), ComputeOp)
