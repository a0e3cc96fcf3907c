"""rematerialize with a budget: the arena fits in it, the bits stay, and an error names the smallest arena."""

from __future__ import annotations

import re

import numpy as np
import pytest
from graph_checks import GraphBuilder, apply
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from mlc import target as targets
from mlc.dialects.graph import ConcatOp, ContractOp, MapOp, ReduceOp, ReshapeOp, SliceOp, TransposeOp
from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import InputError
from mlc.passes.context import MlcContext
from mlc.passes.fuse.autodiff.rematerialize import Rematerialize
from mlc.passes.fuse.autodiff.saving.planned import planned_arena


def arena(b: GraphBuilder, module: ModuleOp) -> int:
    """The arena that the module gets."""
    found = planned_arena(MlcContext(weights=b.weights, target=targets.get("x86-64-v4")), module)
    assert found is not None
    return found


def smallest(b: GraphBuilder, module: ModuleOp) -> int:
    """What the error for a budget of one byte names."""
    with pytest.raises(InputError, match="the budget is 1") as error:
        apply(b, module, [Rematerialize(1)])
    match = re.search(r"peak_memory=(\d+)", str(error.value))
    assert match
    return int(match[1])


def check_fits(b: GraphBuilder, module: ModuleOp, budget: int) -> ModuleOp:
    """The module in a budget: the same bits in an arena that is small enough."""
    changed, inputs = module.clone(), b.inputs()
    apply(b, changed, [Rematerialize(budget)])
    assert arena(b, changed) <= budget
    before, after = (interpret(each, b.weights, inputs) for each in (module, changed))
    for name, expected in before.items():
        np.testing.assert_array_equal(after[name], expected, err_msg=str(changed))
    return changed


def walk_back(b: GraphBuilder, layers: int = 6) -> list[SSAValue]:
    """Layers of a product and an activation, which the walk back reads from the last to the first."""
    w = b.weight(48, 48)
    values = [b.input(64, 48)]
    for _ in range(layers):
        values.append(b.add(MapOp("tanh(x0)", [b.add(ContractOp("mk,kn->mn", values[-1], w))])))
    g = values[-1]
    for value in reversed(values[:-1]):
        g = b.add(ContractOp("mk,nk->mn", b.add(MapOp("x0 * (1 - x1 * x1)", [g, value])), w))
    return [g]


def test_values_are_computed_anew_until_they_fit() -> None:
    b = GraphBuilder()
    module = b.module(*walk_back(b))
    whole, least = arena(b, module), smallest(b, module.clone())
    assert least <= 0.7 * whole
    counts = []
    for budget in (whole, (whole + least) // 2, least):
        changed = check_fits(b, module, budget)
        counts.append(sum(isinstance(op, ContractOp) for op in changed.walk()))
    assert counts[0] == 12 and counts == sorted(counts) and counts[-1] > 12
    with pytest.raises(InputError, match=f"peak_memory={least}"):
        apply(b, module, [Rematerialize(least - 1)])


def test_a_budget_that_is_large_enough_changes_nothing() -> None:
    b = GraphBuilder()
    module = b.module(*walk_back(b))
    text = str(module)
    apply(b, module, [Rematerialize(arena(b, module))])
    assert str(module) == text


def test_symbolic_dimensions() -> None:
    b = GraphBuilder()
    y = b.add(MapOp("tanh(x0)", [b.add(ContractOp("mk,kn->mn", b.input("n", 16), b.weight(16, 16)))]))
    module = b.module(b.add(ContractOp("mk,kn->mn", y, b.weight(16, 16))))
    with pytest.raises(InputError, match="needs fixed dimensions.*Fix them"):
        apply(b, module, [Rematerialize(100)])


def mixed(b: GraphBuilder, random: np.random.Generator) -> list[SSAValue]:
    """Random operators on matrices of one shape, views and moves among them, and readers of early values at the end."""
    w, s = b.weight(8, 8), b.weight(8)
    values = [b.input(8, 8), b.input(8, 8)]

    def any_value() -> SSAValue:
        return values[random.integers(max(0, len(values) - 5), len(values))]

    def halves() -> SSAValue:
        x = any_value()
        parts = [b.add(SliceOp(x, [at, 0], [4, 8], [1, 1])) for at in (4, 0)]
        return b.add(ConcatOp(parts, 0))

    kinds = [
        lambda: b.add(ContractOp("mk,kn->mn", any_value(), w)),
        lambda: b.add(MapOp("tanh(x0) + 0.5 * x1", [any_value(), any_value()])),
        lambda: b.add(MapOp("max(x0, x1)", [any_value(), s])),
        lambda: b.add(TransposeOp(any_value(), [1, 0])),
        lambda: b.add(MapOp("x0 / (1 + x1)", [x := any_value(), b.add(ReduceOp("max", x, [1], True))])),
        lambda: b.add(ReshapeOp(b.add(MapOp("0.5 * x0", [b.add(ReshapeOp(any_value(), [64]))])), [8, 8])),
        halves,
    ]
    for _ in range(random.integers(6, 18)):
        values.append(kinds[random.integers(len(kinds))]())
    g = values[-1]
    for value in reversed(values):
        g = b.add(ContractOp("mk,kn->mn", b.add(MapOp("tanh(x0 + x1)", [g, value])), w))
    return [g, *(values[n] for n in random.integers(0, len(values), 2) if n >= 2)]


def test_random_networks() -> None:
    """Each budget down to the smallest is kept, and the bits are the same."""
    random = np.random.default_rng()
    saved = 0
    for _ in range(3):
        b = GraphBuilder(int(random.integers(1 << 30)))
        module = b.module(*dict.fromkeys(mixed(b, random)))
        whole, least = arena(b, module), smallest(b, module.clone())
        for budget in {least, int(random.integers(least, whole + 1))}:
            check_fits(b, module, budget)
        saved += whole - least
    assert saved > 0
