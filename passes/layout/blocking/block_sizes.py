"""Block sizes: how many channels a block has on each target, a vector of channels (NCHWc) or all channels of an image
(NHWC)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue

from mlc.dialects.graph import ConvOp, ConvTransposeOp
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import ITEMSIZE, element_of, is_float, shape_of
from mlc.passes.layout.blocking.packed_products import packing

PACKED_POSITIONS = 128  # of a result, from which on weights of run time are packed
HALVES = ("f16", "bf16")
COPIED = 8  # halves in 16 bytes, which a thread of a GPU copies at a time
FEW = 4  # the same of 8 bytes, for the channels of a first layer

Conv = ConvOp | ConvTransposeOp


@dataclass(frozen=True)
class BlockSizes(ABC):
    """The block sizes of a target. ``constants``: the values that are known at compile time."""

    constants: Set[SSAValue]
    whole: ClassVar[bool]
    """Whether one block has all channels."""

    @abstractmethod
    def of_filters(self, op: Conv) -> int | None:
        """Return the channels in a block of the result of ``op``; None if the result keeps its layout."""

    @abstractmethod
    def of_image(self, op: Conv, filters: int) -> int:
        """Return the channels in a block of the image of ``op``, if the image is not blocked yet. ``filters``: the
        channels in a block of the result."""

    @abstractmethod
    def vector(self, element: str) -> int | None:
        """Return the channels in a vector register; None if blocks are not vectors."""


@dataclass(frozen=True)
class VectorBlocks(BlockSizes):
    """Blocks of one vector: ``lanes`` channels of 4 bytes, or half as many of 8 bytes. Fewer channels make one short
    block."""

    lanes: int
    whole = False

    def of_filters(self, op: Conv) -> int | None:
        element = element_of(op.result)
        plain = is_float(element) or isinstance(op, ConvOp) and bool(packing(op))
        packs = op.weight in self.constants or _outweighs_packing(op)
        return None if op.layouts or not plain or ITEMSIZE[element] < 4 or not packs else self.vector(element)

    def of_image(self, op: Conv, filters: int) -> int:
        words = packing(op) if isinstance(op, ConvOp) else None
        return min(filters, _multiple(_channels(op), words.count if words else 1))

    def vector(self, element: str) -> int:
        return self.lanes * 4 // ITEMSIZE[element]


@dataclass(frozen=True)
class WholeChannels(BlockSizes):
    """One block of all channels of an image of halves, rounded up to a multiple of what a thread copies at a time."""

    whole = True

    def of_filters(self, op: Conv) -> int | None:
        packs = op.weight in self.constants or _outweighs_packing(op) and _slides(op)
        if not is_of_halves(op) or op.layouts or not packs:
            return None
        return _multiple(int(shape_of(op.weight)[0]), COPIED)  # type: ignore[arg-type]

    def of_image(self, op: Conv, filters: int) -> int:
        return whole_block(_channels(op))

    def vector(self, element: str) -> None:
        return None


def is_of_halves(op: Conv) -> bool:
    """Return whether a convolution multiplies halves and adds in f32, as tensor cores do."""
    return isinstance(op, ConvOp) and {element_of(v) for v in op.operands} <= {*HALVES} and bool(op.product)


def _slides(op: Conv) -> bool:
    """Return whether the window has at most as many taps as the result has positions. In a derivative by filters the
    window is the adjoint, which is as large as the image and is read once."""
    window, positions = (product(shape_of(v)[2:]) for v in (op.weight, op.results[0]))
    return isinstance(window, int) and isinstance(positions, int) and window <= positions


def whole_block(channels: int) -> int:
    """Return the channels in the one block of an image, including padding channels."""
    return FEW if channels <= FEW else _multiple(channels, COPIED)


def _channels(op: Conv) -> int:
    return int(shape_of(op.input)[1])  # type: ignore[arg-type]


def _multiple(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _outweighs_packing(op: Conv) -> bool:
    """Return whether weights that are not constant are read at so many positions that packing them in each run pays."""
    shape = shape_of(op.result)
    positions = product((shape[0], *shape[2:]))
    return isinstance(op, ConvOp) and isinstance(positions, int) and positions >= PACKED_POSITIONS
