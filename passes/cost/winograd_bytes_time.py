"""The time of a 3x3 convolution of bytes of stride 1 on a CPU with AVX2, as it is and by Winograd's tiles of 2x2."""

from __future__ import annotations

from mlc.dialects.graph import ConvOp
from mlc.dialects.graph.minimal_filtering import TAPS, WHOLE_TILE
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import ITEMSIZE, shape_of
from mlc.target import CpuTarget

POINTS = (WHOLE_TILE + TAPS - 1) ** 2


def tiles_are_faster(conv: ConvOp, target: CpuTarget, gain: float) -> bool:
    """Return whether tiles make ``conv`` at least ``gain`` times as fast, by the estimates. ``conv`` has blocked
    operands, whose words hold four bytes."""
    return plain_seconds(conv, target) >= gain * tiled_seconds(conv, target)


def plain_seconds(conv: ConvOp, target: CpuTarget) -> float:
    """Return the time to multiply bytes, or to read the weights from memory."""
    filters, channels, h, w = _sizes(conv)
    weights = TAPS**2 * filters * channels
    time = 2 * weights * h * w * _images(conv) / (target.rates.byte_products * target.flops)
    return max(time, weights / target.rates.memory_bytes)


def tiled_seconds(conv: ConvOp, target: CpuTarget) -> float:
    """Return the time to multiply i16, or to read their weights from memory, and to write and read the tiles."""
    filters, channels, h, w = _sizes(conv)
    tiles = _tiles(h) * _tiles(w) * _images(conv)
    weights = POINTS * filters * channels
    time = 2 * weights * tiles / (target.rates.word_products * target.flops)
    moved = POINTS * tiles * (channels * ITEMSIZE["i16"] + filters * ITEMSIZE["i32"])
    read, written = target.rates.l3_bytes, target.rates.l3_write_bytes
    if moved <= target.l2.size:
        read = written = target.rates.l2_bytes
    elif moved > target.l3.size // 2:
        read = written = target.rates.memory_bytes
    return max(time, ITEMSIZE["i16"] * weights / target.rates.memory_bytes) + moved / read + moved / written


def row_fits(conv: ConvOp, target: CpuTarget) -> bool:
    """Return whether L2 holds the products of a row of tiles beside the weights, so that one kernel computes products
    and outputs row by row, image by image."""
    filters, channels, h, w = _sizes(conv)
    row = POINTS * _tiles(w) * filters * ITEMSIZE["i32"]
    stays = row + POINTS * filters * channels * ITEMSIZE["i16"] <= target.l2.size
    return stays and row <= target.local_bytes // 2 and _tiles(h) * _images(conv) >= target.tasks(2)


def _tiles(extent: int) -> int:
    return -(-extent // WHOLE_TILE)


def _images(conv: ConvOp) -> int:
    batch = shape_of(conv.result)[0]
    return batch if isinstance(batch, int) else 1


def _sizes(conv: ConvOp) -> tuple[int, int, int, int]:
    """Return the filters, the channels, and the height and width of the result."""
    (_, f, h, w, b), (_, c, *_, words, _) = shape_of(conv.result), shape_of(conv.weight)
    filters, channels = product((f, b)), product((c, words, ITEMSIZE["i32"]))
    assert isinstance(filters, int) and isinstance(channels, int) and isinstance(h, int) and isinstance(w, int)
    return filters, channels, h, w
