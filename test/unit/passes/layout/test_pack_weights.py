"""pack-weights: constant matrices become panels, whichever side and orientation they have."""

from __future__ import annotations

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops, packing

from mlc.dialects.graph import BroadcastOp, ContractOp, GraphOp, TransposeOp
from mlc.dialects.types import shape_of
from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
from mlc.passes.graph.fold_constants import FoldConstants
from mlc.passes.layout.decompose_pack import DecomposePack
from mlc.passes.layout.pack_weights import PackWeights

TWO = "x86-64-v4:vector_bits=64"  # lanes: panels of 4 columns
PASSES = (PackWeights(), DecomposePack(), FoldConstants(), CanonicalizeGraph())


@pytest.mark.parametrize(
    ("equation", "activation", "weight"),
    [
        ("mk,kn->mn", ("n", 5), (5, 12)),
        ("mk,nk->mn", (3, 5), (12, 5)),
        ("abmk,kn->abmn", (2, "n", 3, 5), (5, 9)),
        ("k,kn->n", (5,), (5, 11)),
        ("xmz,zq->xmq", ("n", 3, 1), (1, 8)),
    ],
)
def test_right_operands(equation: str, activation: tuple, weight: tuple[int, int]) -> None:
    b = GraphBuilder()
    y = b.add(ContractOp(equation, b.input(*activation), b.weight(*weight)))
    module = check(b, [y], *PASSES, target=TWO, tolerance=1e-6)
    (op,) = ops(module, ContractOp)
    columns = weight[equation.split(",")[1].index(equation[-1])]
    assert packing(op) == (columns, 4)
    assert shape_of(op.rhs)[0] == -(-columns // 4)
    assert [type(o) for o in ops(module, GraphOp)] == [ContractOp]


@pytest.mark.parametrize(
    ("equation", "weight", "activation", "transposes"),
    [
        ("mk,kn->mn", (9, 5), (5, "n"), 2),
        ("mk,bkn->bmn", (9, 5), ("n", 5, 3), 2),
        ("km,bnk->bnm", (5, 9), ("n", 3, 5), 0),
        ("mk,bnk->bmn", (9, 5), ("n", 3, 5), 1),
    ],
)
def test_left_operands(equation: str, weight: tuple[int, int], activation: tuple, transposes: int) -> None:
    b = GraphBuilder()
    y = b.add(ContractOp(equation, b.weight(*weight), b.input(*activation)))
    module = check(b, [y], *PASSES, target=TWO, tolerance=1e-6)
    (op,) = ops(module, ContractOp)
    assert packing(op) == (9, 4)
    assert len(ops(module, TransposeOp)) == transposes


def test_doubles_have_half_the_columns() -> None:
    b = GraphBuilder()
    y = b.add(ContractOp("mk,kn->mn", b.input(3, 5, element="f64"), b.stored(b.random.standard_normal((5, 12)))))
    assert packing(ops(check(b, [y], *PASSES, target=TWO, tolerance=1e-14), ContractOp)[0]) == (12, 2)


def test_what_has_no_columns_to_pack_stays() -> None:
    b = GraphBuilder()
    ints = b.stored(np.arange(60).reshape(5, 12))
    results = [
        b.add(ContractOp("mk,kn->mn", b.input(3, 5), b.input(5, 12))),  # not constant
        b.add(ContractOp("mk,kn->mn", b.input(3, 5), b.weight(5, 7))),  # few columns
        b.add(ContractOp("bmk,bkn->bmn", b.input(2, 3, 5), b.weight(2, 5, 12))),  # a matrix for each batch
        b.add(ContractOp("mk,kn->nm", b.input(3, 5), b.weight(5, 12))),  # the columns are not innermost
        b.add(ContractOp("mk,kn->mn", b.input(3, 5, element="i64"), ints)),
        b.add(ContractOp("mk,kn->mn", b.weight(3, 5), b.weight(5, 12))),  # a constant
        b.add(ContractOp("mk,mn->mn", b.input(3, 5), b.weight(3, 12))),
        b.add(ContractOp("mk,kn->mkn", b.input(3, 5), b.weight(5, 12))),
        b.add(ContractOp("mk,kn->mn", b.input(3, 1), b.weight(5, 12))),  # a stretched lhs
    ]
    module = check(b, results, PackWeights(), target=TWO)
    assert not any(packing(o) for o in ops(module, ContractOp))


def test_a_broadcast_over_a_symbol_is_no_constant() -> None:
    b = GraphBuilder()
    n = shape_of(b.input("n"))[0]
    state = b.add(BroadcastOp(b.constant(0.5), [n, 5]))
    module = check(b, [b.add(ContractOp("mk,nk->mn", state, b.weight(12, 5)))], *PASSES, target=TWO, tolerance=1e-6)
    assert packing(ops(module, ContractOp)[0]) == (12, 4)


@pytest.mark.parametrize(("k", "columns", "block"), [(1024, 12, 4), (1024, 64, 8), (1020, 64, 4)])
def test_panels_are_wide_where_rows_conflict_in_the_cache(k: int, columns: int, block: int) -> None:
    """1024 floats are 4096 bytes: every row begins in the same set. 12 columns would be a third padding."""
    b = GraphBuilder()
    y = b.add(ContractOp("mk,kn->mn", b.input(3, k), b.weight(k, columns)))
    module = check(b, [y], *PASSES, target=TWO, tolerance=1e-6)
    assert packing(ops(module, ContractOp)[0]) == (columns, block)
