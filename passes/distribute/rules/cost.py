"""What a change of state costs: the bytes that one rank sends, as the collectives in ``runtime/c/comm`` send them."""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.dist.states import PartialAttr, SplitAttr, State, WholeAttr, WindowAttr
from mlc.dialects.semantics.blocks import count, first
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, product, symbols_of
from mlc.dialects.types import ITEMSIZE, Shape, element_of, shape_of
from mlc.passes.assumed_extents import TYPICAL
from mlc.passes.distribute.rules.extents import size_of, static


def typical(extent: DimLike) -> int:
    """Return an extent where all that are known at run time only are ``TYPICAL``."""
    return static(evaluate(extent, dict.fromkeys(symbols_of([extent]), TYPICAL)))


def bytes_of(value: SSAValue) -> int:
    """Return the bytes of a tensor; of run-time extents those of the typical size."""
    return typical(product(shape_of(value))) * ITEMSIZE.get(element_of(value), 1)


def moved(value: SSAValue, source: State, target: State, blocks: int) -> int:
    """Return the bytes that a rank sends to bring a value from a state to another."""
    size = bytes_of(value)
    match source, target:
        case (WholeAttr(), _):
            return 0
        case (SplitAttr(), WindowAttr()) if source.dim == target.dim:
            extent = shape_of(value)[target.dim]
            if isinstance(extent, Dim):
                if (ends := open_halo(target, source, extent)) is not None:
                    return (blocks - 1) * sum(ends) * size // typical(extent)
                return size * (blocks - 1) // blocks
            low, high = halo(target, source, extent, blocks)
            if max(low, high) <= smallest(source, extent, blocks):
                return (low + high) * size // max(extent, 1)
            return size * (blocks - 1) // blocks
        case (SplitAttr(), SplitAttr()) if source == target:
            return 0
        case (SplitAttr(), SplitAttr()) if all(is_even(s, shape_of(value), blocks) for s in (source, target)):
            return size * (blocks - 1) // blocks**2
        case (SplitAttr() | WindowAttr(), _):
            return size * (blocks - 1) // blocks
        case (PartialAttr(), PartialAttr()):
            return 0
        case (PartialAttr(), SplitAttr()):
            return size * (blocks - 1) // blocks
    return 2 * size * (blocks - 1) // blocks


def halo(window: WindowAttr, source: SplitAttr, extent: int, blocks: int) -> tuple[int, int]:
    """Return how many elements before and after its block, of a dimension in state ``source``, the window of a rank
    reaches at most."""
    _, step, offset, _ = window.parts
    units, given = static(window.units) or blocks, extent // source.granule
    low = high = 0
    for rank in range(blocks):
        begin, block = first(given, blocks, rank) * source.granule, count(given, blocks, rank) * source.granule
        start = first(units, blocks, rank) * step + offset
        length = static(size_of(units, blocks, rank)) * step + window.parts[3] if window.units else window.parts[3]
        low, high = max(low, begin - start), max(high, start + length - begin - block)
    return low, high


def open_halo(window: WindowAttr, source: SplitAttr, extent: DimLike) -> tuple[int, int] | None:
    """Return the same of an extent that is known at run time only; None where it has no bound.

    The blocks of n + d units begin at most d units after those of n.
    """
    _, step, offset, length = window.parts
    more = extent // source.granule - window.units
    if step != source.granule or not isinstance(more, int):
        return None
    return max(0, max(more, 0) * step - offset), max(0, max(-more, 0) * step + offset + length)


def smallest(source: SplitAttr, extent: int, blocks: int) -> int:
    """Return the elements of the smallest block."""
    return count(extent // source.granule, blocks, blocks - 1) * source.granule


def is_even(state: SplitAttr, shape: Shape, blocks: int) -> bool:
    """Return whether all blocks of a tensor are equally large."""
    return shape[state.dim] // state.granule % blocks == 0
