"""The numbers of the schedule rules of GPUs: what is chosen by measurement, and no data sheet has."""

from __future__ import annotations

from dataclasses import dataclass

Tiles = tuple[tuple[int, int], ...]
"""Rows × columns (or points of a reduction) of a thread block's tile, the best first."""
WarpTiles = tuple[tuple[tuple[int, int], tuple[int, int]], ...]
"""Tiles, and the grid of warps that share each."""
StreamTiles = tuple[tuple[int, int, int], ...]
"""Rows, points of the reduction, and warps of a block; the warps share the rows."""


@dataclass(frozen=True)
class GpuHeuristics:
    """The numbers of one architecture, beside its facts. All of them can be tuned: with others a kernel is as right,
    and faster or slower. ``cuda:sm_90:queries=8`` gives another whole number, ``dataclasses.replace`` any other value.
    """

    # sums of products (``contraction``, ``tensor_cores``)
    tiles: Tiles = ((128, 128), (64, 128), (64, 64), (32, 64), (32, 32), (16, 32), (8, 32))
    """A larger tile reads less, a smaller one makes more blocks. The largest is only for columns of one iterator and
    for few accesses at computed offsets, because addresses take registers."""
    computed: int = 3  # accesses at computed offsets whose addresses the largest tile has no registers for
    computed_sums: int = 32  # of a thread on tensor cores at most, beside so many addresses
    depths: tuple[int, ...] = (2, 3)  # buffers of a staged operand that are candidates, beside as many as fit
    fragment_tiles: WarpTiles = (
        ((128, 128), (2, 4)), ((128, 64), (2, 2)), ((64, 128), (2, 2)), ((64, 64), (2, 2)), ((32, 64), (1, 4)),
        ((64, 32), (2, 2)), ((32, 32), (1, 2)), ((16, 32), (1, 2)),
    )  # fmt: skip
    warpgroup_tiles: WarpTiles = (((128, 128), (8, 1)), ((64, 128), (4, 1)), ((64, 64), (4, 1)))
    bulk_tiles: WarpTiles = (
        ((256, 128), (8, 1)), ((128, 256), (8, 1)), ((128, 128), (8, 1)), ((64, 128), (4, 1)), ((64, 64), (4, 1)),
    )  # fmt: skip
    """For warpgroups if other warps copy the operands: then no thread keeps addresses of copies beside its sums."""
    pingpong_tiles: WarpTiles = (((64, 256), (4, 1)), ((128, 128), (4, 1)), ((64, 128), (4, 1)))
    """Of one warpgroup, for two warpgroups that alternate."""
    clusters: Tiles = ((2, 1), (1, 2), (2, 2))  # rows and columns of blocks that share operands
    raster_rows: int = 8  # rows of tiles whose columns follow each other
    fragment_steps: int = 32  # of a sum that are staged together, of halves and bytes: rows of 64 bytes

    # elementwise statements, windows, rows, and reductions with few results (``generic``, ``strips``)
    points: int = 4  # of an elementwise tile that a thread computes: loads in flight
    row_elements: int = 4  # of a row that a thread holds in registers
    window_rows: int = 4  # of an image that a thread has, whose windows share loads
    open_points: int = 8  # of a tile along an axis of a symbolic extent, which may have one
    strip_terms: int = 32  # of a sum at least: fewer are added by one thread
    strip_contiguous_terms: int = 8  # the same, where the terms are contiguous
    strip_rows: int = 8  # of a product whose sums a thread holds at a time
    strip_loads: int = 8  # elements that a thread reads at a time
    strip_results: int = 128  # neighbouring sums of a strip at most

    # running reductions and chains (``streaming``)
    queries: int = 16  # that read the same keys: of so many, one thread block has all keys
    stream_columns: int = 128  # of a sum along a stream at most that one block has, in registers as those of fragments
    stream_tiles: Tiles = ((64, 64), (64, 32), (32, 64), (32, 32), (16, 32), (16, 16))
    """With more rows the operands are read less often."""
    few_rows_tiles: Tiles = ((8, 128), (16, 64), (16, 32))
    """For fewer than ``queries`` rows: with more points, queries are read less often."""
    own_rows_tiles: Tiles = ((1, 128), (1, 64), (1, 32))
    """For rows that share nothing, such as heads that each have their own keys."""
    attention_tiles: StreamTiles = (
        (128, 64, 4), (128, 64, 8), (64, 64, 4), (32, 64, 2), (16, 64, 1), (64, 32, 4), (32, 32, 2), (16, 32, 1),
        (16, 16, 1),
    )  # fmt: skip
    chain_tiles: StreamTiles = (
        (128, 64, 4), (128, 64, 8), (128, 32, 8), (64, 64, 4), (64, 32, 4), (32, 64, 2), (32, 32, 2), (16, 64, 1),
        (16, 32, 1), (16, 16, 1),
    )  # fmt: skip
    """Chains have several matrices of as many points, and more operands for each."""
    stream_sums: int = 128  # of a thread at most, scores among them
    open_sums: int = 96  # the same of symbolic extents, beside an array of rows × points: its limits take registers
    merged_sums: int = 80  # the same where rows are of several axes, so that their indices are computed
    chain_sums: int = 160  # the same of chains, whose threads keep nothing of their rows from block to block
    open_rows: int = 32  # of a block at least where their number is symbolic: there may be many
    open_fragment_rows: int = 64  # the same on tensor cores
    stream_depth: int = 2  # buffers of operands: one is computed on while the other is in flight
    stream_steps: tuple[int, ...] = (64, 32, 16)  # of a sum that are staged together
    stream_staged: int = 16  # steps of a sum whose operands are in shared memory beside the scores
    reserved: int = 2048  # bytes of shared memory beside the operands

    # operands in shared memory, and the registers beside sums (the device stage)
    staged_steps: tuple[int, ...] = (16, 8, 4)  # of a sum that are staged together, where the schedule does not say it
    narrow_steps: tuple[int, ...] = (32, 16, 8, 4)  # the same of halves and bytes
    long_steps: tuple[int, ...] = (64, 32, 16, 8, 4)  # the same of what warpgroups multiply: rows of 128 bytes
    ring_depth: int = 4  # buffers of a ring at most: later copies hide no more of the latency
    working_registers: int = 56  # of a thread for fragments, addresses and counters, beside sums and computed offsets

    # parts of sums and shares of tiles (the time of blocks)
    part_terms: int = 64  # of a part at least
    part_multiple: int = 16  # of terms, as they are staged together: parts are multiples where some are
    part_keys: int = 128  # of a part of a running reduction at least: one or two steps of a stream
    uneven_gain: float = 1.5  # times as fast are parts that do not divide a sum, where they are preferred to others
    parts_gain: float = 0.8  # of the time of a whole sum that parts, or shares of tiles, may take at most
    share_terms: int = 64  # of a step, of which shares of tiles are made
    close: float = 1.1  # a ratio of times that an estimate does not tell apart
