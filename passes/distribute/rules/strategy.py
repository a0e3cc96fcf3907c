"""A strategy: the states in which an operator reads its operands and makes its result along one mesh axis."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr, State, WholeAttr, WindowAttr
from mlc.dialects.types import Shape
from mlc.passes.distribute.rules.extents import static


@dataclass(frozen=True)
class Strategy:
    """``why`` names the factor. ``divides``: the ranks share the work; ``iterator``: the reduced one that is divided.
    ``counts``: iterators whose value a rank computes with, and the block of each. ``gathers``: the operand and
    dimension that a masked read gathers from."""

    operands: tuple[State, ...]
    result: State
    why: str
    divides: bool = True
    iterator: str | None = None
    counts: tuple[tuple[str, int], ...] = ()
    gathers: tuple[int, int] | None = None


@dataclass(frozen=True)
class Rules:
    """All strategies of an operator, and the reasons why others do not exist."""

    strategies: tuple[Strategy, ...]
    refused: tuple[str, ...] = ()


def whole(operands: int, why: str) -> Strategy:
    """Return the strategy by which each rank computes everything."""
    return Strategy((WHOLE,) * operands, WHOLE, why, divides=False)


def local_shape(shape: Shape, state: State, blocks: int) -> Shape:
    """Return the shape of what a rank has of a tensor."""
    match state:
        case SplitAttr():
            return (*shape[: state.dim], static(shape[state.dim]) // blocks, *shape[state.dim + 1 :])
        case WindowAttr():
            dim, _, _, length = state.parts
            return (*shape[:dim], length, *shape[dim + 1 :])
    return shape


def shift_of(state: State, shape: Shape, blocks: int) -> tuple[int, str] | None:
    """Return (dimension, the text in ``rank_`` of the first element that rank c has)."""
    match state:
        case SplitAttr():
            return state.dim, f"rank_ * {static(shape[state.dim]) // blocks}"
        case WindowAttr():
            dim, step, offset, _ = state.parts
            return dim, f"rank_ * {step} + {offset}"
        case WholeAttr() | PartialAttr():
            return None
    return None
