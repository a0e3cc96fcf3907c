"""The pattern rewriter: order, source nodes, the cap."""

from __future__ import annotations

import pytest
from graph_checks import GraphBuilder, ops

from mlc.dialects.graph import MapOp, ReshapeOp, TransposeOp, source_nodes
from mlc.errors import MlcError
from mlc.passes.rewriter import rewrite


def test_a_replacement_carries_the_nodes_of_what_it_replaces() -> None:
    b = GraphBuilder()
    x = b.input(2, 3)
    module = b.module(b.add(MapOp("exp(x0)", [x])))

    def twice(op: MapOp) -> list[ReshapeOp] | None:
        if op.expr.data != "exp(x0)":
            return None
        first = ReshapeOp(op.args[0], [6])
        return [first, MapOp("log(x0)", [first.result]), ReshapeOp(first.result, [2, 3])]  # type: ignore[list-item]

    assert rewrite(module, {MapOp: [twice]})
    assert {source_nodes(o) for o in ops(module, ReshapeOp)} == {("node0",)}


def test_a_module_without_matches_is_unchanged() -> None:
    b = GraphBuilder()
    module = b.module(b.add(MapOp("exp(x0)", [b.input(2)])))
    assert not rewrite(module, {MapOp: [lambda op: None]})


def test_users_are_seen_again_and_unused_producers_go() -> None:
    b = GraphBuilder()
    x = b.input(2, 3)
    inner = b.add(TransposeOp(b.add(TransposeOp(x, [1, 0])), [1, 0]))
    module = b.module(b.add(MapOp("exp(x0)", [inner])))

    def cancel(op: TransposeOp):  # type: ignore[no-untyped-def]
        return op.input.owner.input if isinstance(op.input.owner, TransposeOp) else None

    assert rewrite(module, {TransposeOp: [cancel]})
    assert not ops(module, TransposeOp)


def test_patterns_that_undo_each_other_are_named() -> None:
    b = GraphBuilder()
    module = b.module(b.add(MapOp("exp(x0)", [b.input(2)])))

    def back_and_forth(op: MapOp) -> list[MapOp]:
        return [MapOp("log(x0)" if op.expr.data == "exp(x0)" else "exp(x0)", op.args)]

    with pytest.raises(MlcError, match=r"back_and_forth.*node0.*graph.map.*rewrite"):
        rewrite(module, {MapOp: [back_and_forth]})
