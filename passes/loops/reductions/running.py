"""Running reductions in a tile: the results of earlier blocks are rescaled if this block raises a maximum, and
continued."""

from __future__ import annotations

from mlc.passes.loops.body.tile_context import TileContext, Value, broadcast, factor_of
from mlc.passes.loops.body.tile_values import TileValues
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.loops.reductions.combine import combine
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView

FACTOR = "where(x0 == x1, 1.0, exp(x0 - x1))"
"""The factor by which an old and a new maximum rescale a sum; 1 if both are -inf, when the sum is 0."""


def continued(out: IndexBuilder, values: TileValues, s: StatementView, context: TileContext, value: Value) -> Value:
    """Return the result of a reduction after a block: ``value``, the block's own result, combined with that of the
    blocks before."""
    if s.name not in values.running.scales:
        return value
    scale = values.running.scales[s.name]
    old = values.read(out, s.write, context)
    if scale is None:
        new = _combined(out, s, old, value, context)
        if s.write.array in values.running.maxima:
            factor = values.formula(out, FACTOR, [old, new], context)
            values.write_to(out, s, _factor(s.write), context, factor)
        return new
    factor = values.read(out, _factor(scale), context)
    scaled = values.formula(out, "x0 * x1", [old, factor], context)
    return _combined(out, s, scaled, value, context)


def _combined(out: IndexBuilder, s: StatementView, old: Value, new: Value, context: TileContext) -> Value:
    axes = old.axes | new.axes
    a, b = (Value(broadcast(out, v, axes, context), axes) for v in (old, new))
    return combine(out, s, a, b)


def _factor(maximum: Access) -> Access:
    return Access(factor_of(maximum.array), maximum.index, maximum.shape)
