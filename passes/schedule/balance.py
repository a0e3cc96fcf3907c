"""How long one of two threads waits for the other where their shares of a kernel differ.

Nine tiles are shared out as four and five: the first thread waits for a tenth of the time that both take.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr

from mlc.dialects import kernel
from mlc.dialects.dims import DimLike
from mlc.passes.kernel.count_work import BYTES, FLOPS
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import Item


def tiles_of(item: Item, extent: DimLike) -> int:
    return -(-extent // item.size) if isinstance(extent, int) else 1


def seconds(fn: kernel.FuncOp, machine: Machine) -> float:
    """About how long two threads take for what ``count-work`` has noted; 0 where sizes are open."""
    return max(_number(fn, FLOPS) / machine.flops, _number(fn, BYTES) / machine.cache)


def waiting(item: Item, extent: DimLike, blocks: int) -> float:
    """The part of the time of both threads that one waits, with so many blocks of an iterator shared out.

    A tile is of the block in which it begins (``waiting(m/2, 7, 4)``: 4 rows and 3).
    """
    if not isinstance(extent, int) or not extent:
        return 0.0
    first = min(-(-(blocks // 2) * extent // (blocks * item.size)) * item.size, extent)
    return 2 * max(first, extent - first) / extent - 1


def _number(fn: kernel.FuncOp, name: str) -> float:
    text = fn.attributes.get(name)
    return float(text.data) if isinstance(text, StringAttr) and text.data.isdigit() else 0.0
