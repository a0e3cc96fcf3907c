"""Windows: what a rank reads where blocks overlap, as a step, an offset and a length."""

from __future__ import annotations

import islpy as isl

from mlc.dialects.dist.states import WindowAttr
from mlc.dialects.semantics.blocks import count
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.passes.distribute.rules import accesses
from mlc.passes.distribute.rules.accesses import Factor
from mlc.passes.distribute.rules.extents import Range, dim_text, first_name, first_text, ranks_text, size_of
from mlc.passes.distribute.rules.parametric import parameters

Footprints = list[tuple[Range, isl.Set]]
FAR, AT, LONG = 1_000_000, 1000, 16
"""An extent, and a block within it, far from the borders: what such a block reads tells step, offset and length."""


def window_of(found: Footprints, dim: int, extent: DimLike, factor: Factor) -> WindowAttr | None:
    """Return the window of a footprint that grows with the rank; None where it is not smaller than the dimension."""
    if isinstance(factor.units, Dim):
        return _of_any_block(found[0][1], dim, factor, factor.units)
    if isinstance(extent, Dim):
        return None
    units = factor.units if factor.units % factor.blocks else factor.blocks
    (_, most), last = found[0], found[-1]
    if units < factor.blocks or factor.blocks < 2:
        return None
    first = accesses.bounds(most, _of_rank(most, 0))
    second = accesses.bounds(last[1] if last[0][0] == 1 else most, _of_rank(most, 1))
    if first is None or second is None or accesses.bounds(last[1], _of_rank(most, factor.blocks - 1)) is None:
        return None
    (low, high), (next_low, _) = first, second
    own = count(units, factor.blocks, 0)
    step, length = (next_low - low) // own, high - low + 1
    if step <= 0 or length >= extent:
        return None
    even = units == factor.blocks
    window = WindowAttr.of(dim, step, low, length if even else length - own * step, 0 if even else units)
    fits = all(_reaches(window, units, each, ranks, factor.blocks) for ranks, each in found)
    return window if fits else None


def _of_rank(found: isl.Set, rank: int) -> dict[str, int]:
    """Return the parameters of a footprint: other run-time extents are far."""
    return dict.fromkeys(parameters(found), FAR) | {"rank_": rank}


def _of_any_block(found: isl.Set, dim: int, factor: Factor, units: Dim) -> WindowAttr | None:
    """Return the window of blocks of a run-time extent, from those of three blocks, proved for any."""
    begin, size = first_name(units), _size(factor)
    ends = []
    for at, long in ((AT, LONG), (AT + 1, LONG), (AT, LONG + 1)) if size else ():
        given = dict.fromkeys(parameters(found), FAR) | {begin: at, str(size): long}
        ends.append(accesses.bounds(found, given))
    if not ends or None in ends:
        return None
    (low, high), (next_low, _), (_, next_high) = ends  # type: ignore[misc]
    step, length = next_low - low, high - low + 1 - LONG * (next_low - low)
    if step <= 0 or length < 0 or next_high - high != step:
        return None
    window = WindowAttr.of(dim, step, low - AT * step, length, factor.units)
    return window if _reaches(window, factor.units, found, (0, factor.blocks), factor.blocks) else None


def _size(factor: Factor) -> DimLike | None:
    """Return the symbol of the size of blocks; None where an expression has it."""
    found = size_of(factor.units, factor.blocks, None)
    return found if str(found).isidentifier() else None


def _reaches(window: WindowAttr, units: DimLike, found: isl.Set, ranks: Range, blocks: int) -> bool:
    """Return whether the windows of ranks have what they read."""
    _, step, offset, length = window.parts
    own = size_of(units, blocks, ranks[0]) * step + length if window.units else length
    begin = f"{first_text(units, step, blocks, ranks)} + {offset}"
    return accesses.contained(found, begin, f"({dim_text(own)})", ranks_text(units, blocks, ranks))
