"""The ``poly`` dialect: statements with polyhedral domains and accesses, their schedules, and tiles."""

from xdsl.ir import Dialect

from mlc.dialects.poly.attributes import SCHEDULE, AccessAttr, DomainAttr, ScheduleAttr, schedule_of
from mlc.dialects.poly.ops import StatementOp, TileOp, YieldOp
from mlc.dialects.poly.schedule import LoopNest, Partition, TiledLoop, block_of, groups_of, thread_block_of
from mlc.dialects.poly.schedule_error import ScheduleError
from mlc.dialects.poly.schedule_text import parse_schedule, schedule_text
from mlc.dialects.poly.thread_block import ThreadBlock

__all__ = [
    "SCHEDULE", "AccessAttr", "DomainAttr", "LoopNest", "Partition", "Poly", "ScheduleAttr", "ScheduleError",
    "StatementOp", "ThreadBlock", "TileOp", "TiledLoop", "YieldOp", "block_of", "groups_of", "parse_schedule",
    "schedule_of", "schedule_text", "thread_block_of",
]  # fmt: skip

Poly = Dialect("poly", [StatementOp, YieldOp, TileOp], [AccessAttr, DomainAttr, ScheduleAttr])
