"""Masks of terms that belong to two parts of a running reduction: such a term counts in the first of the two only.

    S1: t1[part, m] max= s[part, m, n]                  →   … max= where(part < 7 or n >= 5, s[part, m, n], -inf)
    S2: p[part, m, n] = exp(s[part, m, n] - t1[part, m])   →   … = where(part < 7 or n >= 5, exp(…), 0)

A sum of products with p then needs no mask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.ir import Block

from mlc.dialects import poly
from mlc.dialects.semantics.dims import Dim
from mlc.passes.schedule.polyhedral.restricted_body import Comparisons, constant
from mlc.passes.schedule.polyhedral.statement_view import StatementView

ZEROS = {"arith.mulf", "arith.extf", "arith.truncf", "builtin.unrealized_conversion_cast", "poly.yield"}
"""The operations whose result is 0 if a factor is 0."""


def masked_statements(inside: Sequence[StatementView], along: Mapping[str, str]) -> frozenset[str]:
    """Return the statements that need a mask: exponentials of differences from the maximum, and reductions, except sums
    of products with a factor that is 0 already. ``along``: the reduced iterator of each statement."""
    zero, found = set[str](), set[str]()
    for s in inside:
        reads = any(r.array in zero for r in s.reads) and {o.name for o in s.op.body.block.ops} <= ZEROS
        reduces = along[s.name] in s.reduced
        if not reads and (reduces or _has_power(s)):
            found.add(s.name)
        if not reduces and (reads or _has_power(s)):
            zero.add(s.write.array)
    return frozenset(found)


def _has_power(s: StatementView) -> bool:
    return any(o.name == "math.exp" for o in s.op.body.block.ops)


def mask_first(block: Block, part: str, last: int, along: str, count: int, identity: float) -> None:
    """Let a statement yield ``identity`` for the first ``count`` terms of the ``last`` part."""
    end = block.last_op
    assert isinstance(end, poly.YieldOp)
    value, build = end.operands[0], Comparisons(end)
    earlier, own = build.compare(last - 1 - Dim.symbol(part)), build.compare(Dim.symbol(along) - count)
    counts = build.add(arith.OrIOp(earlier, own))
    end.operands[0] = build.add(arith.SelectOp(counts, value, build.add(constant(identity, value))))
