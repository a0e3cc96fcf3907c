"""What a change of state costs: the bytes that one rank sends, as the collectives in ``runtime/c/comm`` send them."""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.dist.states import PartialAttr, SplitAttr, State, WholeAttr, WindowAttr
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import ITEMSIZE, element_of, shape_of
from mlc.passes.distribute.rules.extents import static


def bytes_of(value: SSAValue) -> int:
    """Return the bytes of a tensor; 0 where its extents are known at run time only."""
    count = product(shape_of(value))
    return count * ITEMSIZE.get(element_of(value), 1) if isinstance(count, int) else 0


def moved(value: SSAValue, source: State, target: State, blocks: int) -> int:
    """Return the bytes that a rank sends to bring a value from a state to another."""
    size = bytes_of(value)
    match source, target:
        case (WholeAttr(), _):
            return 0
        case (SplitAttr(), WindowAttr()) if source.dim == target.dim:
            low, high = halo(target, static(shape_of(value)[target.dim]) // blocks, blocks)
            if max(low, high) <= static(shape_of(value)[target.dim]) // blocks:
                return (low + high) * size // max(static(shape_of(value)[target.dim]), 1)
            return size * (blocks - 1) // blocks
        case (SplitAttr(), SplitAttr()):
            return 0 if source == target else size * (blocks - 1) // blocks**2
        case (SplitAttr() | WindowAttr(), _):
            return size * (blocks - 1) // blocks
        case (PartialAttr(), PartialAttr()):
            return 0
        case (PartialAttr(), SplitAttr()):
            return size * (blocks - 1) // blocks
    return 2 * size * (blocks - 1) // blocks


def halo(window: WindowAttr, block: int, blocks: int) -> tuple[int, int]:
    """Return how many elements before and after its block the window of a rank reaches at most."""
    _, step, offset, length = window.parts
    low = max(rank * block - (rank * step + offset) for rank in range(blocks))
    high = max(rank * step + offset + length - (rank + 1) * block for rank in range(blocks))
    return max(low, 0), max(high, 0)
