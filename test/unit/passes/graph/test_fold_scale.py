"""fold-scale: channelwise affine maps vanish into weights and one bias; anything else, and strict numerics, stays."""

from __future__ import annotations

import pytest
from graph_checks import GraphBuilder, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import ContractOp, ConvOp, MapOp, source_nodes
from mlc.dialects.semantics.expr import Load, parse
from mlc.passes.graph.fold_constants import FoldConstants
from mlc.passes.graph.fold_scale import FoldScale, affine

NORMALISE = "(x0 - x1) * x2 / sqrt(x3 * x3 + 1e-5) + x4"


def conv(b: GraphBuilder, groups: int = 1) -> SSAValue:
    return b.add(ConvOp(b.input("n", 6, 7, 5), b.weight(8, 6 // groups, 3, 2), [1, 2], [1, 1], groups))


def test_batch_normalisation_after_a_convolution() -> None:
    b = GraphBuilder()
    y = b.add(MapOp("x0 + x1", [conv(b), b.weight(8, 1, 1)]))
    y = b.add(MapOp(NORMALISE, [y, *(b.weight(8, 1, 1) for _ in range(4))]))
    y = b.add(MapOp("max(x0, 0)", [y]))
    module = check(b, [y], FoldScale(), FoldConstants(), tolerance=1e-6)
    assert [m.expr.data for m in ops(module, MapOp)] == ["(x0 + x1)", "max(x0, 0)"]
    assert source_nodes(ops(module, MapOp)[0]) == ("node3", "node8")


@pytest.mark.parametrize("groups", [2, 3])
def test_grouped_convolution(groups: int) -> None:
    b = GraphBuilder()
    x = b.input("n", 6, 7)
    y = b.add(ConvOp(x, b.weight(6, 6 // groups, 2), [1], [1], groups))
    y = b.add(MapOp("x1 * x0 - x2", [y, b.weight(6, 1), b.weight(1, 6, 1)]))
    module = check(b, [y], FoldScale(), FoldConstants(), tolerance=1e-6)
    assert [m.expr.data for m in ops(module, MapOp)] == ["(x0 + x1)"]


@pytest.mark.parametrize("equation", ["amk,kn->amn", "amk,nk->amn"])
def test_contraction(equation: str) -> None:
    b = GraphBuilder()
    matrix = b.weight(4, 6) if "kn" in equation else b.weight(6, 4)
    y = b.add(ContractOp(equation, b.input("n", 3, 4), matrix))
    y = b.add(MapOp("x0 * x1", [y, b.weight(6)]))
    y = b.add(MapOp("x1 - (x0 + x2)", [y, b.weight(1, 6), b.weight(6)]))
    module = check(b, [y], FoldScale(), FoldConstants(), tolerance=1e-6)
    assert [m.expr.data for m in ops(module, MapOp)] == ["(x0 + x1)"]


def test_a_scale_without_a_shift_leaves_no_map() -> None:
    b = GraphBuilder()
    y = b.add(MapOp("x0 / x1 * 2", [conv(b), b.weight(8, 1, 1)]))
    module = check(b, [y], FoldScale(), FoldConstants(), tolerance=1e-5)
    assert not ops(module, MapOp)


def test_two_biases_become_one_and_one_stays_as_it_is() -> None:
    b = GraphBuilder()
    y = b.add(MapOp("x0 + x1", [conv(b), b.weight(8, 1, 1)]))
    module = check(b, [b.add(MapOp("x0 + x1", [y, b.weight(8, 1, 1)]))], FoldScale(), tolerance=1e-6)
    assert [m.expr.data for m in ops(module, MapOp)] == ["(x0 + x1)", "(x0 + x1)"]  # of the biases, of the result
    b = GraphBuilder()
    module = check(b, [b.add(MapOp("x0 + x1", [conv(b), b.weight(8, 1, 1)]))], FoldScale())
    assert len(ops(module, MapOp)) == 1


def test_strict_numerics_change_nothing() -> None:
    b = GraphBuilder()
    y = b.add(MapOp("x0 * x1", [conv(b), b.weight(8, 1, 1)]))
    module = check(b, [y], FoldScale("strict"), FoldConstants())
    assert len(ops(module, MapOp)) == 1


def test_what_is_not_channelwise_affine_and_read_once_stays() -> None:
    b = GraphBuilder()
    read_twice = conv(b)
    scale = b.input(8, 1, 1)
    results = [
        b.add(MapOp("x0 * 2", [read_twice])),
        b.add(MapOp("x0 * 3", [read_twice])),
        b.add(MapOp("x0 * x1", [conv(b), b.weight(5, 2)])),
        b.add(MapOp("x0 * x1", [conv(b), scale])),
        b.add(MapOp("x0 * x0", [conv(b)])),
        b.add(MapOp("1 / x0", [conv(b)])),
        b.add(MapOp("x0 * 2", [b.add(ConvOp(b.input(1, 2, 5), b.input(3, 2, 2), [1], [1]))])),
    ]
    module = check(b, results, FoldScale())
    assert len(ops(module, MapOp)) == len(results)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0", (None, None)), ("-x0", ("-1", None)), ("x0 + x1", (None, "x1")), ("x1 - x0", ("-1", "x1")),
        ("(x0 - x1) / x2", ("(1 / x2)", "(neg(x1) / x2)")), ("x1 * (x0 + 2) + 3", ("x1", "((2 * x1) + 3)")),
    ],
)  # fmt: skip
def test_affine_forms(text: str, expected: tuple[str | None, str | None]) -> None:
    form = affine(parse(text), Load(0))
    assert form is not None and tuple(None if e is None else str(e) for e in form) == expected


@pytest.mark.parametrize("text", ["x0 * x0", "x1 / x0", "exp(x0)", "where(x0 > 0, x0, 1)", "x1", "max(x0, x1)"])
def test_no_affine_form(text: str) -> None:
    assert affine(parse(text), Load(0)) is None


def test_the_convolution_comes_from_its_own_node() -> None:
    b = GraphBuilder()
    y = b.add(MapOp("x0 * x1", [conv(b), b.weight(8, 1, 1)]))
    module = check(b, [y], FoldScale(), tolerance=1e-6)
    assert source_nodes(ops(module, ConvOp)[0]) == ("node1",)
