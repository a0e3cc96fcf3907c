"""How often a step of the host program runs."""

from __future__ import annotations

from xdsl.ir import Operation

from mlc.dialects import rt
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.passes.assumed_extents import PLANNED


def iterations_of(op: Operation, outermost: rt.LoopOp | None = None) -> DimLike:
    """Return in how many iterations of loops an operation of the host program runs: of all, or of those up to the
    ``outermost``. A data-dependent loop counts as PLANNED."""
    iterations: DimLike = 1
    while op is not outermost and (outer := op.parent_op()) is not None:
        if isinstance(outer, rt.LoopOp):
            iterations = iterations * (PLANNED if outer.trips is None else parse_dim(outer.trips.data))
        op = outer
    return iterations
