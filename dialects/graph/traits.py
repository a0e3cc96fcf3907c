"""Traits of graph operators: the properties that fusion needs, so that no pass lists operators by name."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.traits import OpTrait


@dataclass(frozen=True)
class GraphTrait(OpTrait):
    """A trait of an operator. ``holds`` may read the operator's attributes and its neighbours."""

    def holds(self, op: Operation) -> bool:
        return True


class Elementwise(GraphTrait):
    """Each element of the result follows from one element of each operand (with broadcasting)."""


class PointwiseIndices(GraphTrait):
    """The operator is a gather: each element of the result follows from one element of each operand, except the tables,
    which it reads at computed indices: ``x0[i64(x1[i0])]``."""


class RowReduction(GraphTrait):
    """The operator combines the elements of ``input`` along ``axes``; elementwise operators on the same rows can fuse
    with it."""


class PlaneByPlane(GraphTrait):
    """Plane n of the result depends only on plane n of the first operand (pooling, depthwise convolution)."""


class FusesWithProducer(GraphTrait):
    """The operator fuses into the kernel that computes its first operand, whatever else that kernel computes."""


class FusesWithConsumer(GraphTrait):
    """The operator fuses with the operator that reads its result as first operand."""


class ViewLike(GraphTrait):
    """The result is the operand's memory with another shape or element type (MLIR: ViewLikeOpInterface)."""


def has(op: Operation, trait: type[GraphTrait]) -> bool:
    """Return whether an operator has a trait and the trait holds for it."""
    found = op.get_trait(trait)
    return found is not None and found.holds(op)
