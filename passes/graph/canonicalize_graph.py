"""Canonicalization (``canonicalize-graph``): one form for what can be written in several.

    %1 = graph.reshape(%x) : 2x3x4 -> 6x4
    %2 = graph.reshape(%1) : 6x4 -> 24              %2 = graph.reshape(%x) : 2x3x4 -> 24
    %c = graph.constant dense<2.0> : f32
    %3 = graph.map "x0 * x1"(%2, %c)            →   %3 = graph.map "(x0 * 2.0)"(%2)

Data movements that move nothing are removed, and consecutive ones are merged. A convolution of which a slice is read
computes only that slice. Maps read the operands of broadcasts, and have small constants as literals. Common
subexpressions and dead operators are eliminated. Values stay the same bit for bit (except powers, see
``scalar_algebra``).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from mlc.passes.graph.patterns import map_patterns, move_patterns
from mlc.passes.graph.patterns.cleanup import eliminate_dead, merge_common
from mlc.passes.rewriter import Pattern, rewrite

PATTERNS: dict[type[Operation], list[Pattern]] = {**move_patterns.PATTERNS, **map_patterns.PATTERNS}


@dataclass(frozen=True)
class CanonicalizeGraph(ModulePass):
    """Rewrite to the canonical form; see the module's docstring."""

    name = "canonicalize-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        eliminate_dead(op)
        merge_common(op)
        if rewrite(op, PATTERNS):
            merge_common(op)
        eliminate_dead(op)
