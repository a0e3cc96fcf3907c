"""rematerialize: derivatives compute anew what is cheap, save fewer bytes, and give the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from graph_checks import GraphBuilder, apply, ops
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import SSAValue

from mlc import target as targets
from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, ReshapeOp, StructuredOp
from mlc.dialects.semantics.interpreter import interpret
from mlc.passes.fuse.autodiff.rematerialize import DERIVATIVES, Rematerialize
from mlc.passes.fuse.autodiff.saving.budget import Budget
from mlc.passes.fuse.autodiff.saving.live_values import LiveValues, size
from mlc.passes.fuse.autodiff.saving.recompute import Recompute
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.target import CpuTarget

CHEAP = ("max(x0, x1)", "x0 - x1", "0.5 * x0 + x1", "min(abs(x0), 2) * min(abs(x1), 2)")
COSTLY = ("tanh(x0) * x1", "x0 / (1 + abs(x1))")


def checked(b: GraphBuilder, results: list[SSAValue]) -> tuple[ModuleOp, int, int]:
    """The module after the pass, whose results have the same bits, and the bytes saved before and after."""
    module = b.module(*results)
    module.body.block.first_op.attributes[DERIVATIVES] = UnitAttr()  # type: ignore[union-attr]
    inputs = b.inputs()
    expected, before = interpret(module, b.weights, inputs), saved_bytes(module)
    apply(b, module, [Rematerialize()])
    for name, found in interpret(module, b.weights, inputs).items():
        np.testing.assert_array_equal(found, expected[name], err_msg=str(module))
    return module, before, saved_bytes(module)


def machine() -> CpuTarget:
    target = targets.get("x86-64-v4")
    assert isinstance(target, CpuTarget)
    return target


def saved_bytes(module: ModuleOp) -> int:
    """The most bytes that are alive between two kernels."""
    live = LiveValues(module.body.block.first_op.body.block, machine())  # type: ignore[union-attr]
    return sum(map(size, live.crossing(live.boundary())))


def layers(b: GraphBuilder, random: np.random.Generator, count: int) -> list[SSAValue]:
    """Layers of random elementwise operators round products, and a walk back that reads what they computed."""
    x, w, s = b.input(24, 16), b.weight(16, 16), b.weight(16)
    values = [x]
    for _ in range(count):
        values.append(b.add(ContractOp("mk,kn->mn", values[-1], w)))
        for _ in range(random.integers(0, 4)):
            expr = str(random.choice(CHEAP if random.random() < 0.8 else COSTLY))
            other = values[random.integers(len(values))] if len(values) % 2 else s
            values.append(b.add(MapOp(expr, [values[-1], other])))
    g = values[-1]
    results = []
    for value in reversed(values):
        g = b.add(MapOp("where(x0 > 0, x1, 0) + x1", [value, g]))
        if random.random() < 0.5:
            g = b.add(ContractOp("mk,nk->mn", g, w))
        if random.random() < 0.3:
            results.append(b.add(ContractOp("mk,mn->kn", value, g)))
    return [*results, g, b.add(ReduceOp("add", g, [0], False))]


def test_random_networks() -> None:
    """The same bits, and no more bytes saved; over all of them, fewer."""
    random = np.random.default_rng()
    total = np.zeros(2)
    for _ in range(12):
        b = GraphBuilder(int(random.integers(1 << 30)))
        _, *found = checked(b, layers(b, random, int(random.integers(1, 5))))
        assert found[1] <= found[0]
        total += found
    assert total[1] < total[0]


def normalized(b: GraphBuilder, function: str = "x0 * x1") -> list[SSAValue]:
    """A layer whose value before the activation is read again by the derivative, and so is its product."""
    c = b.add(ContractOp("mk,kn->mn", b.input(64, 32), b.weight(32, 32)))
    n = b.add(MapOp(function, [c, b.weight(32)]))
    z = b.add(ContractOp("mk,kn->mn", b.add(MapOp("max(x0, 0)", [n])), b.weight(32, 32)))
    return [n, b.add(MapOp("where(x0 > 0, x1 * x2, 0)", [n, z, c]))]


def test_a_cheap_value_is_computed_anew() -> None:
    b = GraphBuilder()
    n, d = normalized(b)
    module, before, after = checked(b, [d])
    assert "x0 * x1) > 0" in ops(module, MapOp)[-1].expr.data
    assert before - after == 64 * 32 * 4


def test_an_expensive_function_is_saved() -> None:
    b = GraphBuilder()
    n, d = normalized(b, "exp(x0) * x1")
    module, before, after = checked(b, [d])
    assert ops(module, MapOp)[-1].expr.data == "where((x0 > 0), (x1 * x2), 0)"
    assert before == after


def test_a_result_is_not_computed_twice() -> None:
    """It is in the caller's buffer, so it takes no memory."""
    b = GraphBuilder()
    module, before, after = checked(b, normalized(b))
    assert ops(module, MapOp)[-1].expr.data == "where((x0 > 0), (x1 * x2), 0)"
    assert before == after


def test_what_a_product_reads_is_saved() -> None:
    """A product reads memory, so it would be written again."""
    b = GraphBuilder()
    n, d = normalized(b)
    module, before, after = checked(b, [b.add(ContractOp("mk,mn->kn", n, d))])
    assert before == after


def read_by_products(b: GraphBuilder, rows: int, width: int = 256, layers: int = 4) -> list[SSAValue]:
    """Layers whose values, before and after the activation, are read by a walk back: for its products, twice each."""
    w = b.weight(width, width)
    values = [b.input(rows, width)]
    saved = []
    for _ in range(layers):
        c = b.add(ContractOp("mk,kn->mn", values[-1], w))
        d = b.add(MapOp("x0 - x1", [c, b.weight(rows, 1)]))
        values.append(b.add(MapOp("max(x0, 0) * 0.5", [d])))
        saved.append((c, d))
    g, results = values[-1], []
    for (c, d), y in zip(reversed(saved), reversed(values[1:]), strict=True):
        results.append(b.add(MapOp("x0 * x1", [b.add(ContractOp("mk,mn->kn", y, d)), w])))
        g = b.add(ContractOp("mk,nk->mn", b.add(MapOp("where(x0 > 0, x1, 0)", [c, g])), w))
    return [*results, g]


def test_large_values_are_computed_anew_for_a_share_of_the_time() -> None:
    """What products read is written again; small values are not worth it."""
    b = GraphBuilder()
    module, before, after = checked(b, read_by_products(b, rows=512))
    assert after < 0.9 * before
    b = GraphBuilder()
    assert not ops(checked(b, read_by_products(b, rows=8, width=16))[0], ReshapeOp)


@pytest.mark.parametrize("share", (0, 0.01, 0.03, 0.3))
def test_the_time_that_is_spent_is_limited(share: float) -> None:
    """And what is alive then is what was chosen for: a value is there before another one is computed from it."""
    b = GraphBuilder()
    module = b.module(*read_by_products(b, rows=512))
    block = module.body.block.first_op.body.block  # type: ignore[union-attr]
    live = LiveValues(block, machine())
    budget = Budget(live)
    most, costs = max(budget.alive), sum(budget._cost(op) for op in block.ops if isinstance(op, StructuredOp))
    chosen = budget.choose_cheap(share)
    assert sum(each.cost for each in chosen) <= share * costs
    assert (max(budget.alive) < most) == bool(chosen) == (share > 0)
    Recompute(block, live).run(chosen)
    eliminate_dead(module)
    assert max(Budget(LiveValues(block, machine())).alive) <= max(budget.alive)


def test_a_value_is_computed_anew_once_for_two_readers() -> None:
    """The first of them computes another value anew, which is chosen later; so the value is made for it."""
    b = GraphBuilder()
    w, x = b.weight(32, 32), b.input(64, 32)
    s = b.add(ContractOp("mk,kn->mn", x, w))
    e = b.add(MapOp("tanh(x0)", [s]))
    y = b.add(ContractOp("mk,kn->mn", e, w))
    between = b.add(ContractOp("mk,nk->mn", b.add(MapOp("exp(x0)", [y])), w))
    first = b.add(ContractOp("mk,mn->kn", y, between))
    second = b.add(ContractOp("mk,kn->mn", e, first))
    module = b.module(b.add(MapOp("x0 * x1", [b.add(ContractOp("mk,kn->mn", second, w)), s])))
    live = LiveValues(block := module.body.block.first_op.body.block, machine())  # type: ignore[union-attr]
    budget, at = Budget(live), {v: max(live.read_at[v]) for v in (y, e)}
    assert at[y] < at[e]
    later = budget._recomputed(e, at[e])
    assert later is not None
    budget._take(later)
    found = budget._recomputed(y, at[y])
    assert found is not None and found.moved == (later,) and found.ops == (y.owner,)
    budget._take(found)
    assert {(v, step) for v, step in budget.anew} == {(e, at[y]), (y, at[y])}
    expected = interpret(module, b.weights, inputs := b.inputs())
    Recompute(block, live).run(list(budget.anew.values()))
    assert len(ops(module, MapOp)) == 4
    for name, value in interpret(module, b.weights, inputs).items():
        np.testing.assert_array_equal(value, expected[name])


def test_a_value_is_computed_anew_before_the_last_reader_of_its_operand() -> None:
    """Its next reader is later: there the operand, a product, would be computed anew as well."""
    b = GraphBuilder()
    w, x = b.weight(32, 32), b.input(64, 32)
    s = b.add(ContractOp("mk,kn->mn", x, w))
    e = b.add(MapOp("tanh(x0)", [s]))
    y = b.add(MapOp("exp(x0)", [b.add(ContractOp("mk,kn->mn", e, w))]))
    d = b.add(MapOp("x0 * x1", [b.add(ContractOp("mk,nk->mn", y, w)), s]))
    module = b.module(b.add(ContractOp("mk,mn->kn", e, b.add(ContractOp("mk,kn->mn", d, w)))))
    live = LiveValues(block := module.body.block.first_op.body.block, machine())  # type: ignore[union-attr]
    budget, end, at = Budget(live), live.last[s], live.last[e]
    later, found = budget._ways(e, end - 1, at)
    assert (later.at, len(later.ops), found.at, found.ops) == (at, 2, end, (e.owner,))
    assert end < at and found.cost < later.cost
    budget._take(found)
    expected = interpret(module, b.weights, inputs := b.inputs())
    Recompute(block, live).run(list(budget.anew.values()))
    assert len(ops(module, MapOp)) == 4
    for name, value in interpret(module, b.weights, inputs).items():
        np.testing.assert_array_equal(value, expected[name])


def test_more_bytes_to_read_than_to_save() -> None:
    """A sum of many saved values is saved itself, where its reader reads none of them."""
    b = GraphBuilder()
    x, w = b.input(64, 32), b.weight(32, 32)
    saved = [b.add(ContractOp("mk,kn->mn", x, w)) for _ in range(3)]
    total = b.add(MapOp("x0 + x1 + x2", saved))
    y = b.add(ContractOp("mk,kn->mn", b.add(MapOp("max(x0, 0)", [total])), w))
    first = b.add(MapOp("where(x0 > 0, x1, 0)", [total, y]))
    rest = [b.add(ContractOp("mk,mn->kn", value, first)) for value in saved]
    module, before, after = checked(b, [first, *rest])
    assert [op.expr.data for op in ops(module, MapOp)][-1] == "where((x0 > 0), x1, 0)"
    assert before == after


def test_without_derivatives_nothing_changes() -> None:
    b = GraphBuilder()
    module = b.module(*normalized(b)[1:])
    text = str(module)
    apply(b, module, [Rematerialize()])
    assert str(module) == text
