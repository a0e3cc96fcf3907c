"""Strategies that follow from statements: what is split, partial, a window, or refused, and why."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.ir import Block, SSAValue

from mlc.dialects.dist.states import SplitAttr, text
from mlc.dialects.graph import (
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    GraphOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    ScatterOp,
    SliceOp,
    TransposeOp,
)
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.types import tensor
from mlc.passes.distribute.rules.derive import rules_of
from mlc.passes.distribute.rules.linear import keeps_partial


def values(*shapes: Sequence[int], element: str = "f32") -> list[SSAValue]:
    return list(Block(arg_types=[tensor(element, shape) for shape in shapes]).args)


def found(op: GraphOp, blocks: int = 2) -> set[str]:
    """The strategies of an operator as text: ``split 0, whole → split 0``."""
    rules = rules_of(op, blocks).strategies
    return {f"{', '.join(map(text, each.operands))} → {text(each.result)}" for each in rules}


def contract(equation: str, *shapes: Sequence[int]) -> ContractOp:
    return ContractOp(equation, *values(*shapes))


def conv(groups: int, image: int = 10) -> ConvOp:
    return ConvOp(*values((2, 4, image), (8, 4 // groups, 3)), [1], [1], groups)


INDICES = Block(arg_types=[tensor("f32", (6, 4)), tensor("i64", (8,))]).args
CASES = {
    "a product": (
        contract("mk,kn->mn", (4, 6), (6, 8)),
        {"split 0, whole → split 0", "whole, split 1 → split 1", "split 1, split 0 → partial add"},
    ),
    "heads": (
        contract("bhqd,bhkd->bhqk", (1, 4, 3, 5), (1, 4, 3, 5)),
        {"split 1, split 1 → split 1"},
    ),
    "broadcasting": (
        MapOp("x0 + x1", values((4, 6), (6,))),
        {"split 0, whole → split 0", "split 1, split 0 → split 1"},
    ),
    "a maximum": (ReduceOp("max", values((4, 6))[0], [1]), {"split 0 → split 0", "split 1 → partial max"}),
    "a transposition": (TransposeOp(values((4, 6))[0], [1, 0]), {"split 1 → split 0", "split 0 → split 1"}),
    "a product of factors": (ReshapeOp(values((4, 6))[0], (24,)), {"split 0 → split 0"}),
    "factors of a product": (ReshapeOp(values((24,))[0], (4, 6)), {"split 0 → split 0"}),
    "a dimension of 1 beside": (ReshapeOp(values((1, 6))[0], (6,)), {"split 1 → split 0"}),
    "a concatenation": (ConcatOp(values((4, 3), (4, 5)), 1), {"split 0, split 0 → split 0"}),
    "a slice": (SliceOp(values((4, 6))[0], [0, 1], [4, 4], [1, 1]), {"split 0 → split 0"}),
    "padding": (PadOp(values((4, 6))[0], (0, 1), (0, 1), "0"), {"split 0 → split 0"}),
    "a convolution": (
        conv(1),
        {
            "split 0, whole → split 0",
            "whole, split 0 → split 1",
            "window of 2, whole → split 2",
            "split 1, split 1 → partial add",
        },
    ),
    "groups": (
        conv(2),
        {"split 0, whole → split 0", "split 1, split 0 → split 1", "window of 2, whole → split 2"},
    ),
    "pooling": (
        PoolOp("max", values((2, 4, 8))[0], [2], [2], [1]),
        {"split 0 → split 0", "split 1 → split 1", "split 2 → split 2"},
    ),
    "a gather": (
        ComputeOp("x0[x1[i0], i1]", INDICES, (8, 4)),
        {"whole, split 0 → split 0", "split 1, whole → split 1", "split 0, whole → partial add"},
    ),
    "numbers of elements": (ComputeOp("i0 + i1", [], (4, 1)), {" → split 0"}),
    "a scan": (ScanOp("add", values((4, 5, 6))[0], False, False), {"split 0 → split 0", "split 2 → split 2"}),
    "a scatter": (
        ScatterOp("add", *Block(arg_types=[tensor("f32", (6, 4)), tensor("i64", (8,)), tensor("f32", (8, 4))]).args),
        {"split 1, whole, split 1 → split 1", "partial add, split 0, split 0 → partial add"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_strategies_of(name: str) -> None:
    op, wanted = CASES[name]
    assert wanted <= found(op)
    extra = found(op) - wanted
    assert all("window" in each for each in extra), extra  # a window of a whole operand is right too


def test_extents_that_have_no_equal_blocks_are_refused_with_the_reason() -> None:
    rules = rules_of(contract("mk,kn->mn", (4, 6), (6, 7)), 3)
    assert {"dimension 0 of 4 elements is not divided by 3", "dimension 1 of 7 elements is not divided by 3"} == set(
        rules.refused
    )


def test_run_time_extents_have_rules_where_isl_has_them() -> None:
    n, m = Dim.symbol("n"), Dim.symbol("m")
    x, y = Block(arg_types=[tensor("f32", (n, 4)), tensor("f32", (n * m, 4))]).args
    found = rules_of(MapOp("tanh(x0)", [x]), 2, frozenset({n})).strategies
    assert [each.operands for each in found] == [(SplitAttr.of(0),), (SplitAttr.of(1),)]
    assert rules_of(MapOp("tanh(x0)", [x]), 3).refused[0] == "dimension 0 of n elements is not divided by 3"
    (why,) = rules_of(MapOp("tanh(x0)", [y]), 2, frozenset({n * m})).refused
    assert why == "its extent m*n is no sum of run-time extents, of which blocks are proved"


LINEAR = {
    "x0 * 2": True,
    "x0 + x1": False,
    "x0 * x1": True,
    "x1 / x0": False,
    "x0 / x1": True,
    "-x0": True,
    "where(x1 > 0, x0, 0)": True,
    "where(x1 > 0, x0, 1)": False,
    "where(x0 > 0, x1, 0)": False,
    "tanh(x0)": False,
    "max(x0, 0)": False,
    "x0 * x0": False,
    "x0 + 1": False,
    "f64(x0)": True,
    "f16(x0)": False,
    "x1 * 2": False,
}


@pytest.mark.parametrize("expr", LINEAR)
def test_only_linear_maps_keep_a_partial_sum(expr: str) -> None:
    op = MapOp(expr, values((4,), (4,)))
    assert keeps_partial(op, "add", [0]) == LINEAR[expr]


def test_sums_of_partial_operands_and_products_of_one_are_partial() -> None:
    x = values((4, 6), (6, 8))
    assert keeps_partial(MapOp("x0 - x1 * 3", values((4,), (4,))), "add", [0, 1])
    assert keeps_partial(ContractOp("mk,kn->mn", *x), "add", [0])
    assert not keeps_partial(ContractOp("mk,kn->mn", *x), "add", [0, 1])
    assert not keeps_partial(ReduceOp("max", x[0], [0]), "add", [0])


def test_moves_keep_any_partial_value_and_integer_division_none() -> None:
    (x,) = values((4, 6))
    assert keeps_partial(TransposeOp(x, [1, 0]), "max", [0]) and keeps_partial(ReduceOp("max", x, [0]), "max", [0])
    assert not keeps_partial(MapOp("x0 * 2", [x]), "max", [0])
    assert not keeps_partial(MapOp("x0 / 2", values((4,), element="i32")), "add", [0])
