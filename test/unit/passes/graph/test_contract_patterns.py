"""Operators that patterns of contractions reject do not read their operands any more."""

from __future__ import annotations

from xdsl.dialects import test

from mlc.dialects.graph import BroadcastOp, ContractOp
from mlc.dialects.types import tensor
from mlc.passes.graph.patterns.contract_patterns import contract_unstretched


def test_a_rejected_operator_reads_nothing() -> None:
    """The rows of the result are those of the broadcast, which is still needed."""
    given = test.TestOp(result_types=[tensor("f32", (4, 1, 20)), tensor("f32", (20, 20))])
    rows, weights = given.results
    stretched = BroadcastOp(rows, (4, 7, 20))
    op = ContractOp("aMN,KN->aMK", stretched.result, weights)
    assert contract_unstretched(op) is None
    assert [use.operation for use in rows.uses] == [stretched]
    assert [use.operation for use in weights.uses] == [op]
