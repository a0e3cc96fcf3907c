"""Fusion of long and wide graphs: groups are bounded, stay convex, and their number grows with the graph."""

from __future__ import annotations

import random
from graphlib import TopologicalSorter

import numpy as np
import pytest
from compiled import build
from graph_checks import GraphBuilder
from xdsl.ir import Operation, SSAValue

import mlc.target
from mlc.dialects.graph import ConcatOp, ContractOp, MapOp, ReduceOp, ReshapeOp, TransposeOp
from mlc.dialects.semantics.interpreter import interpret
from mlc.passes.fuse.grouping.groups import OPERATORS, SCALARS, form_groups, scalar_functions

TARGET = mlc.target.get("x86-64-v3")


def test_groups_are_bounded() -> None:
    b = GraphBuilder()
    y = b.input(4, 8)
    for _ in range(500):
        y = b.add(MapOp("x0 + sin(x0)", [y]))
    b.module(y)
    groups = form_groups(list(b.block.ops), TARGET)
    assert max(len(g.ops) for g in groups) == OPERATORS
    assert max(sum(map(scalar_functions, g.ops)) for g in groups) <= SCALARS
    assert len(groups) == -(-500 // OPERATORS)


def grown(b: GraphBuilder, seed: int) -> SSAValue:
    """Maps, reductions and moves of a few values, old ones too: paths leave groups and come back."""
    choose = random.Random(seed)
    values = [b.input(6, 6), b.input(6, 6)]
    for _ in range(60):
        x, y = choose.choice(values[-4:]), choose.choice(values)
        made = choose.choice(
            [
                lambda x=x, y=y: MapOp("tanh(x0) + x1 * 0.5", [x, y]),
                lambda x=x, y=y: MapOp("tanh(x0) - x1 * 0.5", [x, y]),
                lambda x=x: TransposeOp(x, [1, 0]),
                lambda x=x: ReduceOp("max", x, [1]),
                lambda x=x: ReshapeOp(x, (6, 6)),
            ]
        )()
        value = b.add(made)
        values.append(b.add(MapOp("x0 * 0.5 - x1", [x, value])) if isinstance(made, ReduceOp) else value)
    return b.add(ConcatOp(values[-3:], 0))


@pytest.mark.parametrize("number", range(6))
def test_random_graphs_stay_right(number: int, tmp_path, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    seed = np.random.SeedSequence().entropy % 2**32
    print(f"seed {seed}")
    b = GraphBuilder(seed)
    module = b.module(grown(b, seed))
    feed = b.inputs()
    expected = interpret(module, b.weights, feed)["out0"]
    found = build(b, module, tmp_path, tmp_path_factory.getbasetemp() / "cache").run(feed)["out0"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def verify_order(b: GraphBuilder) -> None:
    """Kernels and lone operators, each by the position of its first operator, have a topological order; raises
    CycleError where a path leaves a kernel and comes back."""
    ops = list(b.block.ops)
    item = {op: n for n, op in enumerate(ops)}
    item |= {op: item[group.ops[0]] for group in form_groups(ops, TARGET) for op in group.ops}
    order = TopologicalSorter[int]()
    for user, used in ((op, v.owner) for op in ops for v in op.operands):
        if isinstance(used, Operation) and item[used] != item[user]:
            order.add(item[user], item[used])
    order.prepare()


def old(b: GraphBuilder, between: int) -> SSAValue:
    """A sum that fits in the kernel of ``late``, if it were not for ``early``: its kernel is older, and reads ``late``.
    The path leads through ``between`` more kernels as old."""
    x = b.input(6, 6)
    early = [b.add(ContractOp("mk,kn->mn", x, x)) for _ in range(between + 1)]
    late = b.add(ContractOp("mk,kn->mn", x, b.input(6, 6)))
    value = late
    for each in early:
        crossed = b.add(ReduceOp("add", value, [0]))  # no kernel of a product has it
        value = b.add(MapOp("x0 * x1", [each, crossed]))  # in the kernel of ``each``
    again = b.add(ReduceOp("max", value, [0]))
    return b.add(MapOp("x0 + x1", [late, again]))


@pytest.mark.parametrize("between", range(3))
def test_a_path_through_older_kernels_is_one(between: int, tmp_path, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    b = GraphBuilder()
    module = b.module(old(b, between))
    verify_order(b)
    feed = b.inputs()
    expected = interpret(module, b.weights, feed)["out0"]
    found = build(b, module, tmp_path, tmp_path_factory.getbasetemp() / "cache").run(feed)["out0"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_kernels_of_random_graphs_have_an_order() -> None:
    seed = np.random.SeedSequence().entropy % 2**32
    for n in range(seed, seed + 150):
        print(f"seed {n}")
        b = GraphBuilder(n)
        b.module(grown(b, n))
        verify_order(b)
