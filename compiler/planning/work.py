"""What an operator computes and moves, from its statements, and the roofline of a rank."""

from __future__ import annotations

from mlc.dialects.graph import GraphOp, StructuredOp
from mlc.dialects.semantics.dims import product
from mlc.dialects.semantics.expr import Call, walk
from mlc.dialects.types import shape_of
from mlc.passes.distribute.rules.cost import bytes_of
from mlc.planning.cluster import Cluster


def operations(op: GraphOp) -> float:
    """Return the operations of an operator: those of its expressions, and one for each element that is reduced; of one
    without statements ten for each element of its operands and result, as its meaning is not known here."""
    if not isinstance(op, StructuredOp):
        return 10.0 * sum(_count(x.type) for x in (*op.operands, *op.results))
    total = 0.0
    for s in op.statements():
        points = product(s.bounds)
        calls = sum(isinstance(node, Call) for node in walk(s.value)) + (s.monoid is not None)
        total += calls * points if isinstance(points, int) else 0
    return total


def _count(type_: object) -> int:
    count = product(shape_of(type_))  # type: ignore[arg-type]
    return count if isinstance(count, int) else 0


def total_bytes(op: GraphOp) -> int:
    return sum(bytes_of(x) for x in (*op.operands, *op.results))


def roofline(cluster: Cluster, operations: float, moved: float) -> float:
    """Return the seconds of a rank: the longer of computing and of moving."""
    return max(operations / cluster.flops, moved / cluster.bandwidth) / cluster.efficiency
