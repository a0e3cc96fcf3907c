"""A strategy: the states in which an operator reads its operands and makes its result along one mesh axis."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr, State, WholeAttr, WindowAttr
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import Shape
from mlc.passes.distribute.rules.extents import Range, first_text, size_of


@dataclass(frozen=True)
class Strategy:
    """``why`` names the factor. ``divides``: the ranks share the work; ``iterator``: the reduced one that is divided,
    in units of ``granule`` iterations. ``counts``: iterators whose value a rank computes with, each with its units and
    the elements of one. ``gathers``: the operand, dimension and extent that a masked read gathers from."""

    operands: tuple[State, ...]
    result: State
    why: str
    divides: bool = True
    iterator: str | None = None
    granule: int = 1
    counts: tuple[tuple[str, DimLike, int], ...] = ()
    gathers: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Rules:
    """All strategies of an operator, and the reasons why others do not exist."""

    strategies: tuple[Strategy, ...]
    refused: tuple[str, ...] = ()


def whole(operands: int, why: str) -> Strategy:
    """Return the strategy by which each rank computes everything."""
    return Strategy((WHOLE,) * operands, WHOLE, why, divides=False)


def local_shape(shape: Shape, state: State, blocks: int, rank: int | None = None) -> Shape:
    """Return the shape of what a rank has of a tensor; without its number, uneven blocks have symbolic extents."""
    match state:
        case SplitAttr():
            size = size_of(shape[state.dim] // state.granule, blocks, rank)
            return (*shape[: state.dim], size * state.granule, *shape[state.dim + 1 :])
        case WindowAttr():
            dim, step, _, length = state.parts
            extent = size_of(state.units, blocks, rank) * step + length if state.units else length
            return (*shape[:dim], extent, *shape[dim + 1 :])
    return shape


def shift_of(state: State, shape: Shape, blocks: int, ranks: Range) -> tuple[int, str] | None:
    """Return (dimension, the text in ``rank_`` of the first element that rank c, one of ``ranks``, has)."""
    match state:
        case SplitAttr():
            units = shape[state.dim] // state.granule
            return state.dim, first_text(units, state.granule, blocks, ranks)
        case WindowAttr():
            dim, step, offset, _ = state.parts
            return dim, f"{first_text(state.units or blocks, step, blocks, ranks)} + {offset}"
        case WholeAttr() | PartialAttr():
            return None
    return None
