"""fuse-maps and hoist-invariants: fewer maps, nothing expensive computed more often than before."""

from __future__ import annotations

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import MapOp, ReduceOp, source_nodes
from mlc.dialects.semantics.expr import height, parse, walk
from mlc.passes.graph.fuse_maps import DEPTH, NODES, FuseMaps, is_cheap
from mlc.passes.graph.hoist_invariants import HoistInvariants


def mapped(b: GraphBuilder, text: str, *args: SSAValue) -> SSAValue:
    return b.add(MapOp(text, args))


def test_a_chain_becomes_one() -> None:
    b = GraphBuilder()
    x, bias = b.input("n", 4, 5), b.weight(5)
    y = mapped(b, "x0 * sigmoid(x0)", mapped(b, "x0 + x1", mapped(b, "exp(x0)", x), bias))
    module = check(b, [y], FuseMaps())
    (op,) = ops(module, MapOp)
    assert op.expr.data == "((exp(x1) + x0) * sigmoid((exp(x1) + x0)))"
    assert source_nodes(op) == ("node1", "node2", "node3")


def test_an_operand_read_by_both_is_one_operand() -> None:
    b = GraphBuilder()
    x = b.input(3, 4)
    module = check(b, [mapped(b, "x0 * x1", mapped(b, "tanh(x0)", x), x)], FuseMaps())
    assert [len(m.args) for m in ops(module, MapOp)] == [1]


def test_types_stay() -> None:
    b = GraphBuilder()
    mask = mapped(b, "x0 > 0", b.input(3, 4))
    y = mapped(b, "where(x0, f64(x1), x2)", mask, b.input(4, element="i64"), b.input(3, 1, element="f64"))
    module = check(b, [y], FuseMaps())
    assert [m.expr.data for m in ops(module, MapOp)] == ["where((x2 > 0), f64(x0), x1)"]


def test_an_expensive_producer_with_two_readers_stays() -> None:
    b = GraphBuilder()
    e = mapped(b, "exp(x0)", b.input(3, 4))
    module = check(b, [mapped(b, "x0 + 1", e), mapped(b, "x0 + 2", e)], FuseMaps())
    assert len(ops(module, MapOp)) == 3


@pytest.mark.parametrize(("readers", "left"), [(2, 2), (3, 3), (4, 5)])
def test_a_cheap_producer_goes_into_few_readers(readers: int, left: int) -> None:
    b = GraphBuilder()
    cheap = mapped(b, "x0 * x1", b.input(3, 4), b.weight(4))
    module = check(b, [mapped(b, f"exp(x0 + {n})", cheap) for n in range(readers)], FuseMaps())
    assert len(ops(module, MapOp)) == left


def test_a_cheap_producer_that_is_needed_anyway_stays() -> None:
    b = GraphBuilder()
    cheap = mapped(b, "x0 * 2", b.input(3, 4))
    module = check(b, [mapped(b, "exp(x0)", cheap), b.add(ReduceOp("add", cheap, [1]))], FuseMaps())
    assert len(ops(module, MapOp)) == 2


def test_two_large_operands_are_not_read_twice() -> None:
    b = GraphBuilder()
    cheap = mapped(b, "x0 * x1", b.input(3, 4), b.input(3, 4))
    module = check(b, [mapped(b, "exp(x0)", cheap), mapped(b, "log(abs(x0))", cheap)], FuseMaps())
    assert len(ops(module, MapOp)) == 3


@pytest.mark.parametrize(("text", "left"), [("x0 * 2", 1), ("rsqrt(abs(x0))", 2)])
def test_a_stretched_producer_must_be_cheap(text: str, left: int) -> None:
    b = GraphBuilder()
    small = mapped(b, text, b.input("n", 3, 1))
    module = check(b, [mapped(b, "x0 * x1", b.input("n", 3, 5), small)], FuseMaps())
    assert len(ops(module, MapOp)) == left


def test_operands_and_size_are_bounded() -> None:
    b = GraphBuilder()
    total = b.input(4)
    for _ in range(20):
        total = mapped(b, "x0 + x1", total, b.input(4))
    module = check(b, [total], FuseMaps())
    assert max(len(m.args) for m in ops(module, MapOp)) <= 12
    b = GraphBuilder()
    x = b.input(4)
    for _ in range(20):  # each squares the size of the expression
        x = mapped(b, "x0 * x0 - x0", x)
    module = check(b, [x], FuseMaps())
    assert max(len(m.expr.data) for m in ops(module, MapOp)) < 5000


@pytest.mark.parametrize("seed", range(15))
def test_random_maps(seed: int) -> None:
    b, random = GraphBuilder(seed), np.random.default_rng(seed)
    values = [b.input("n", 4, 5), b.input(4, 1), b.input(5), b.weight(1, 5), b.constant(0.5)]
    strings = ["x0 + x1", "x0 * x1 - x1", "max(x0, x1)", "tanh(x0) * x1", "where(x0 > x1, x0, 1.0)",
               "x0 / (abs(x1) + 1)"]
    for _ in range(12):
        one, two = (values[i] for i in random.integers(len(values), size=2))
        values.append(mapped(b, strings[random.integers(len(strings))], one, two))
    unread = [v for v in values[5:] if not v.uses]
    check(b, unread, FuseMaps(), HoistInvariants(), tolerance=1e-6)


def test_invariant_parts_are_hoisted() -> None:
    b = GraphBuilder()
    x, v = b.input("n", 3, 5), b.input("n", 3, 1)
    y = mapped(b, "(x0 - x1) * rsqrt(x2 * x2 + 1e-5) * exp(x3) + 1 / x0", x, v, v, b.weight(5))
    module = check(b, [y], HoistInvariants())
    assert [m.expr.data for m in ops(module, MapOp)] == [
        "rsqrt(((x0 * x0) + 1e-05))",
        "exp(x0)",
        "((((x0 - x1) * x2) * x3) + (1 / x0))",
    ]
    assert {source_nodes(m) for m in ops(module, MapOp)} == {("node1",)}


def test_fusing_does_not_undo_hoisting() -> None:
    b = GraphBuilder()
    y = mapped(b, "x0 * exp(x1)", b.input(3, 5), b.input(3, 1))
    assert len(ops(check(b, [y], HoistInvariants(), FuseMaps(), HoistInvariants()), MapOp)) == 2


@pytest.mark.parametrize("text", ["x0 * (x1 + 1)", "exp(x0)", "exp(x0 + x1)", "x0 * exp(1.0)"])
def test_what_varies_or_is_cheap_stays(text: str) -> None:
    b = GraphBuilder()
    module = check(b, [mapped(b, text, b.input(3, 5), b.input(3, 1))], HoistInvariants())
    assert len(ops(module, MapOp)) == 1


def test_cheap() -> None:
    assert is_cheap(parse("where(x0 > 1, f32(x1) * 2, -x2)")) and not is_cheap(parse("1 + x0 / 2"))


@pytest.mark.parametrize("text", ["max(x0, 0.5)", "x0 + sin(x0)", "x0 * 0.99 + x0"])
def test_long_chains_are_bounded_and_linear(text: str) -> None:
    b = GraphBuilder()
    y = b.input(3, 4)
    for _ in range(600):
        y = mapped(b, text, y)
    left = ops(check(b, [y], FuseMaps(), tolerance=1e-5), MapOp)
    assert max(sum(1 for _ in walk(m.scalar)) for m in left) <= NODES
    assert max(height(m.scalar) for m in left) <= DEPTH
    assert len(left) < 600
    assert sum(len(source_nodes(m)) for m in left) == 600


def test_two_deep_operands_stay_within_the_depth() -> None:
    b = GraphBuilder()
    sides = [b.input(3, 4), b.input(3, 4)]
    for _ in range(DEPTH):
        sides = [mapped(b, "tanh(x0)", s) for s in sides]
    left = ops(check(b, [mapped(b, "x0 * x1", *sides)], FuseMaps()), MapOp)
    assert max(height(m.scalar) for m in left) <= DEPTH
