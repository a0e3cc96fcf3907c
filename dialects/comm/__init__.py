"""The ``comm`` dialect: collectives between the ranks that run one program, as operators of the graph level.

Each collective has a meaning over the values of all ranks, so that one process can simulate any number of ranks.
"""

from xdsl.ir import Dialect

from mlc.dialects.comm.base import CommOp, FixedRanksOp, Group, combined
from mlc.dialects.comm.moves import AllGatherOp, AllToAllOp, BroadcastOp, PermuteOp
from mlc.dialects.comm.numbers import BarrierOp, RankOp, WorldOp
from mlc.dialects.comm.reductions import AllReduceOp, ReduceScatterOp

Comm = Dialect(
    "comm",
    [
        AllReduceOp,
        ReduceScatterOp,
        AllGatherOp,
        AllToAllOp,
        BroadcastOp,
        PermuteOp,
        BarrierOp,
        RankOp,
        WorldOp,
    ],
    [],
)

__all__ = [
    "Comm", "CommOp", "FixedRanksOp", "Group", "AllReduceOp", "ReduceScatterOp", "AllGatherOp", "AllToAllOp",
    "BroadcastOp", "PermuteOp",
    "BarrierOp", "RankOp", "WorldOp", "combined",
]  # fmt: skip
