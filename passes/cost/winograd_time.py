"""The time of a 3x3 convolution of stride 1 on a CPU, as it is and by Winograd's tiles."""

from __future__ import annotations

from mlc.dialects.graph import ConvOp
from mlc.dialects.graph.minimal_filtering import TAPS
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import shape_of
from mlc.target import CpuTarget

FLOAT = 4  # bytes


def best_tile(conv: ConvOp, constant: bool, target: CpuTarget, gain: float) -> int:
    """Return the tile size m with the least estimated time; 0 if the plain convolution is fastest. ``constant``:
    whether the weights are known at compile time. ``gain``: the least speedup for which a larger tile is taken."""
    best, least = 0, seconds(conv, 0, constant, target)
    for m in (2, 4):  # the larger one has more weights and a larger error
        if (cost := seconds(conv, m, constant, target)) * gain <= least:
            best, least = m, cost
    return best


def seconds(conv: ConvOp, m: int, constant: bool, target: CpuTarget) -> float:
    """Return the estimated time on one CPU with tiles of size ``m`` (0: the plain convolution), the sum of two terms:
    the larger of the time to multiply and the time to read the weights from memory, and the time of the transforms,
    which write and read their tiles. Weights that are not ``constant`` are transformed too."""
    filters, channels, h, w = sizes(conv)
    batch = shape_of(conv.result)[0]
    points = (-(-h // m) * -(-w // m) if m else h * w) * (batch if isinstance(batch, int) else 1)
    products = ((m + TAPS - 1) ** 2 if m else TAPS**2) * filters * channels
    time = max(2.0 * products * points / target.flops, FLOAT * products / target.rates.memory_bytes)
    if m:
        moved = (m + TAPS - 1) ** 2 * points * (channels + filters) * FLOAT
        time += moved * sum(1 / rate for rate in _tile_rates(conv, m, moved, target))
        time += 0 if constant else 2 * FLOAT * products / target.rates.memory_bytes
    return time


def _tile_rates(conv: ConvOp, m: int, moved: int, target: CpuTarget) -> tuple[float, float]:
    """Return the rates, in bytes a second, at which tiles are written and read, in the cache level or memory that holds
    them."""
    rates = target.rates
    if fits_in_l2(conv, m, target):
        return rates.l2_bytes, rates.l2_bytes
    if moved > target.l3.size // 2:
        return rates.memory_bytes, rates.memory_bytes
    return rates.l3_write_bytes, rates.l3_bytes


def fits_in_l2(conv: ConvOp, m: int, target: CpuTarget) -> bool:
    """Return whether a row of tiles fits in L2, so that one kernel computes all stages row by row, image by image. The
    weights fit beside the row, or are read from L3 once a row, hidden by the products. On the stack are also the rows
    of pixels that become a row of tiles, and the rows of a tile that become pixels, a vector of channels each."""
    filters, channels, h, w = sizes(conv)
    areas, tiles = (m + TAPS - 1) ** 2, w // m
    row, weights = areas * tiles * (channels + filters) * FLOAT, areas * channels * filters * FLOAT
    batch = shape_of(conv.result)[0]
    rows = batch * h // m if h % m == w % m == 0 and isinstance(batch, int) else 0
    hidden = 2 * tiles / target.flops >= FLOAT / target.rates.l3_bytes  # both sides: seconds a weight
    stays = row + weights <= target.l2.size or hidden and row <= target.l2.size
    pixels = (m + TAPS - 1) * (w + TAPS - 1 + m) * target.lanes * FLOAT
    fits = row <= target.local_bytes * 7 // 8 and row + pixels <= target.local_room
    return rows >= target.tasks(2) and fits and stays


def sizes(conv: ConvOp) -> tuple[int, int, int, int]:
    """Return the filters, the channels, and the height and width of the result, plain or in blocks of channels."""
    if conv.data_layouts is None:
        (_, filters, h, w), channels = shape_of(conv.result), shape_of(conv.weight)[1]
    else:
        (_, f, h, w, b), (_, c, *_, bi, _) = shape_of(conv.result), shape_of(conv.weight)
        filters, channels = product((f, b)), product((c, bi))
    assert isinstance(filters, int) and isinstance(channels, int) and isinstance(h, int) and isinstance(w, int)
    return filters, channels, h, w
