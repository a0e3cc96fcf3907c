"""pack-operands: right operands of run time become panels where the product is large, or they are transposed."""

from __future__ import annotations

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops, packing

import mlc
import mlc.numpy as mnp
from mlc.dialects.graph import ContractOp
from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
from mlc.passes.layout.decompose_pack import DecomposePack
from mlc.passes.layout.pack_operands import PackOperands

TWO = "x86-64-v4:vector_bits=64"  # lanes: panels of 4 columns
PASSES = (PackOperands(20), DecomposePack(), CanonicalizeGraph())


@pytest.mark.parametrize(
    ("equation", "left", "right"),
    [
        ("mk,kn->mn", (20, 5), (5, 10)),
        ("mk,nk->mn", (8, 5), (10, 5)),  # transposed
        ("bmk,kn->bmn", (4, 5, 3), (3, 9)),
        ("bmk,nk->bmn", ("n", 5, 3), (9, 3)),
        ("km,kn->mn", (7, 20), (7, 9)),  # the derivative by a matrix
        ("bkm,bkn->mn", (3, 7, 20), (3, 7, 9)),  # of a batch
        ("mbk,bnk->mn", (20, 3, 7), (3, 9, 7)),
        ("bkn,bkm->mn", (3, 7, 9), (3, 7, 20)),  # the operands are swapped
        ("kn,mk->mn", (5, 10), (20, 5)),
        ("mk,kn->nm", (10, 5), (5, 20)),  # a transposed result
    ],
)
def test_packed(equation: str, left: tuple, right: tuple[int, ...]) -> None:
    b = GraphBuilder()
    y = b.add(ContractOp(equation, b.input(*left), b.input(*right)))
    module = check(b, [y], *PASSES, target=TWO, tolerance=1e-6)
    (op,) = ops(module, ContractOp)
    lhs, rhs, out = equation.replace("->", ",").split(",")
    columns = {**dict(zip(lhs, left, strict=True)), **dict(zip(rhs, right, strict=True))}[out[-1]]
    assert (packing(op) == (columns, 4)) == ("n" not in left)


@pytest.mark.parametrize(
    ("equation", "left", "right"),
    [
        ("mk,kn->mn", (19, 5), (5, 10)),  # too few rows
        ("mk,nk->mn", (7, 5), (10, 5)),
        ("mk,kn->mn", (20, 5), (5, 7)),  # too few columns
        ("bmk,bkn->bmn", (4, 20, 3), (4, 3, 9)),  # a matrix for each of a batch
        ("km,kn->nm", (5, 20), (5, 19)),  # too few rows of the swapped product
        ("mk,kn->mn", (20, 5), (1, 10)),  # broadcast
        ("bkm,kbn->mn", (3, 7, 20), (7, 3, 9)),
        ("kmb,kbn->mn", (3, 20, 7), (3, 7, 9)),  # letters of the sum are apart
    ],
)
def test_unchanged(equation: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    b = GraphBuilder()
    y = b.add(ContractOp(equation, b.input(*left), b.input(*right)))
    (op,) = ops(check(b, [y], *PASSES, target=TWO, tolerance=1e-6), ContractOp)
    assert packing(op) is None or equation == "bkm,kbn->mn"


def test_constants_and_short_floats_stay() -> None:
    b = GraphBuilder()
    x = b.input(20, 5)
    results = [
        b.add(ContractOp("mk,kn->mn", x, b.weight(5, 9))),
        b.add(ContractOp("mk,kn->mn", b.input(20, 5, element="f16"), b.input(5, 9, element="f16"))),
    ]
    assert not any(packing(op) for op in ops(check(b, results, *PASSES, target=TWO, tolerance=1e-2), ContractOp))


def test_doubles_have_half_the_columns() -> None:
    b = GraphBuilder()
    y = b.add(ContractOp("mk,kn->mn", b.input(20, 5, element="f64"), b.input(5, 9, element="f64")))
    (op,) = ops(check(b, [y], *PASSES, target=TWO, tolerance=1e-12), ContractOp)
    assert packing(op) == (9, 2)


@pytest.mark.parametrize(
    ("target", "terms", "rows", "element", "panel"),
    [
        ("x86-64-v3", 600, 258, "f32", "Ba6b"),  # as many rows as a register tile has
        ("x86-64-v3", 600, 260, "f32", "Ba5b"),
        ("x86-64-v3", 600, 256, "f32", "Ba4b"),
        ("x86-64-v3", 600, 259, "f32", "ab"),  # no panel divides the rows
        ("x86-64-v3", 512, 258, "f32", "ab"),  # L1 holds the lines of a sum
        ("x86-64-v3", 600, 258, "f64", "ab"),  # six rows are most of a line
        ("x86-64-v4", 1200, 258, "f32", "ab"),  # so are fourteen
    ],
)
def test_left_operands_with_contiguous_rows(target: str, terms: int, rows: int, element: str, panel: str) -> None:
    b = GraphBuilder()
    x, y = b.input(terms, rows, element=element), b.input(terms, 40, element=element)
    packed = PackOperands(), DecomposePack(), CanonicalizeGraph()
    (op,) = ops(check(b, [b.add(ContractOp("km,kn->mn", x, y))], *packed, target=target, tolerance=1e-5), ContractOp)
    assert op.data_layouts is not None
    assert op.data_layouts[0].tag.data == panel


@pytest.mark.parametrize("rows", [258, 260, 256, 259])
def test_register_tiles_stay_within_a_panel(rows: int) -> None:
    random = np.random.default_rng()
    x, y = (random.standard_normal((600, n)).astype(np.float32) for n in (rows, 40))
    product = mlc.jit(lambda x, y: mnp.exp(-mnp.einsum("km,kn->mn", x, y)), target="x86-64-v3")
    exact = np.exp(-np.einsum("km,kn->mn", x.astype(np.float64), y))
    np.testing.assert_allclose(product(x / 64, y), exact ** (1 / 64), rtol=1e-4)
