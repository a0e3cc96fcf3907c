"""``block-rows``: rows of scores that do not stay in the cache become blocks of rows, an axis of their own.

    %s = graph.contract "bmk,bkn->bmn"(%q, %k)         %r = graph.reshape(%q) : 12x1024x64 -> 12x32x32x64
    … softmax …                                     →  %s = graph.contract "bcmk,bkn->bcmn"(%r, %k) : 12x32x32x1024
    %o = graph.contract "bmk,bkn->bmn"(%p, %v)         … %o reshaped to 12x1024x64

A cascade (``passes/fuse/cascades.py``) of such blocks is one kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects.types import Shape
from mlc.passes.fuse.cascades import BLOCK, block_bytes, cascades, stays
from mlc.passes.fuse.split_cascade import SplitCascade
from mlc.passes.rewriter import bodies

ROWS = 8  # fewest rows that make a register tile worth while


@dataclass(frozen=True)
class BlockRows(ModulePass):
    name = "block-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for each in cascades(list(body.ops)):
                rows = rows_of(each.scores)
                if rows is not None:
                    axis = len(each.scores) - 2
                    SplitCascade(each, axis, (each.scores[axis] // rows, rows), {}).run()


def rows_of(scores: Shape) -> int | None:
    """The most rows that divide all of them and fill half of what stays in the cache; None where all rows of a matrix
    stay there, or too few do."""
    *batch, m, n = scores
    if block_bytes(scores) <= BLOCK:
        return None
    most = BLOCK // 2 // block_bytes((1, n))
    rows = next((d for d in range(most, ROWS - 1, -1) if m % d == 0), None)
    return rows if rows is not None and stays((*batch, m // rows, rows, n)) else None
