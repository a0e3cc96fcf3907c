"""The channels of a block, of each target: a vector of them (NCHWc), or all of an image (NHWC)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue

from mlc.dialects.graph import ConvOp, ConvTransposeOp
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import ITEMSIZE, element_of, is_float, shape_of
from mlc.passes.graph.patterns.quantized import PRODUCT, WORD

PACKED_POSITIONS = 128  # of a result, from which on weights of run time are packed
HALVES = ("f16", "bf16")
COPIED = 8  # halves in 16 bytes, which a thread of a GPU copies at a time
FEW = 4  # the same of 8 bytes, for the channels of a first layer

Conv = ConvOp | ConvTransposeOp


@dataclass(frozen=True)
class BlockSizes(ABC):
    """The blocks that a target wants; ``constants`` are the values that are known when a model is compiled."""

    constants: Set[SSAValue]
    whole: ClassVar[bool]
    """Whether a block has all channels, and padding channels at most."""

    @abstractmethod
    def of_filters(self, op: Conv) -> int | None:
        """Channels in a block of a convolution's result; None where it keeps the plain layout, or is blocked."""

    @abstractmethod
    def of_image(self, op: Conv, filters: int) -> int:
        """Channels in a block of its image, where that is not blocked yet and the result has blocks of ``filters``."""

    @abstractmethod
    def vector(self, element: str) -> int | None:
        """The channels of a vector register; None where blocks are not vectors."""


@dataclass(frozen=True)
class VectorBlocks(BlockSizes):
    """A block is a vector of 4-byte channels, or half as many of 8 bytes. Fewer channels make one short block."""

    lanes: int
    whole = False

    def of_filters(self, op: Conv) -> int | None:
        element = element_of(op.result)
        plain = is_float(element) or isinstance(op, ConvOp) and op.product == PRODUCT
        packs = op.weight in self.constants or _outweighs_packing(op)
        return None if op.layouts or not plain or ITEMSIZE[element] < 4 or not packs else self.vector(element)

    def of_image(self, op: Conv, filters: int) -> int:
        unit = WORD if isinstance(op, ConvOp) and op.product else 1
        return min(filters, _multiple(_channels(op), unit))

    def vector(self, element: str) -> int:
        return self.lanes * 4 // ITEMSIZE[element]


@dataclass(frozen=True)
class WholeChannels(BlockSizes):
    """A block has all channels of an image of halves, in multiples of what a thread copies at a time."""

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
    """Whether a convolution multiplies halves and adds floats of 32 bits, as tensor cores do."""
    return isinstance(op, ConvOp) and {element_of(v) for v in op.operands} <= {*HALVES} and bool(op.product)


def _slides(op: Conv) -> bool:
    """Whether a window has no more taps than positions: the adjoint is one as large as the image, read once."""
    window, positions = (product(shape_of(v)[2:]) for v in (op.weight, op.results[0]))
    return isinstance(window, int) and isinstance(positions, int) and window <= positions


def whole_block(channels: int) -> int:
    """Channels of the one block of an image, those of zeros included."""
    return FEW if channels <= FEW else _multiple(channels, COPIED)


def _channels(op: Conv) -> int:
    return int(shape_of(op.input)[1])  # type: ignore[arg-type]


def _multiple(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _outweighs_packing(op: Conv) -> bool:
    """Whether weights of run time are used for so many positions that it pays to pack them in each run."""
    shape = shape_of(op.result)
    positions = product((shape[0], *shape[2:]))
    return isinstance(op, ConvOp) and isinstance(positions, int) and positions >= PACKED_POSITIONS
