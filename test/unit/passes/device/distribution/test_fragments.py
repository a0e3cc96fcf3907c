"""The fragments of tensor cores, what ``ldmatrix`` loads, and swizzles without bank conflicts, over GF(2)."""

from __future__ import annotations

import itertools
from functools import cache
from math import prod
from operator import xor

import pytest

from mlc.dialects.kernel import MMA_SHAPES, MmaShape
from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.passes.device.distribution.fragments import factor, matrix_rows, sums
from mlc.passes.device.distribution.swizzle import placed, swizzled

SHAPES = list(dict.fromkeys(MMA_SHAPES.values()))
LANES = list(enumerate(itertools.product(range(8), range(4))))  # lane 4 g + t is member t of group g


@cache
def image_size(layout: LinearLayout) -> int:
    """The number of coordinates that some index has: sums of bases, each base doubles them or adds none."""
    image = {(0,) * len(layout.shape)}
    for basis in itertools.chain(*layout.bases):
        image |= {tuple(map(xor, each, basis)) for each in image}
    return len(image)


def is_bijective(layout: LinearLayout) -> bool:
    return image_size(layout) == prod(layout.shape) == 1 << sum(map(len, layout.bases))


@pytest.mark.parametrize(
    "shape, warps", [((128, 128), (8,)), ((16, 64), (8,)), ((64, 32), (4, 2)), ((64, 64), (1, 8)), ((16, 8), (1,))]
)
def test_sums(shape: tuple[int, int], warps: tuple[int, ...]) -> None:
    """PTX ISA, m16n8k…: lane 4 g + t has (g, 2 t), (g, 2 t + 1), (g + 8, 2 t) and (g + 8, 2 t + 1)."""
    layout = sums(shape, warps, MMA_SHAPES["f16"])
    assert is_bijective(layout)
    if len(warps) == 2:  # a grid over rows and columns
        starts = {layout(warp=w) for w in range(warps[0] * warps[1])}
        assert tuple(len({start[axis] for start in starts}) for axis in range(2)) == warps
    for lane, (g, t) in LANES:
        held = [layout(register=r, lane=lane) for r in range(4)]
        assert held == [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)]


def test_halves_by_the_tables_of_ptx() -> None:
    """a0 … a7 of m16n8k16: row g for i < 2 and 4 <= i < 6, else g + 8; column 2 t + (i & 1), and 8 more for i >= 4."""
    left, right = factor(MMA_SHAPES["f16"], left=True), factor(MMA_SHAPES["f16"], left=False)
    for (lane, (g, t)), i in itertools.product(LANES, range(8)):
        row, column = g if i < 2 or 4 <= i < 6 else g + 8, 2 * t + (i & 1) + (8 if i >= 4 else 0)
        assert left(lane=lane, register=i // 2, element=i % 2) == (column, row)
        if i < 4:  # b0 … b3: row 2 t + (i & 1), and 8 more for i >= 2; column g
            assert right(lane=lane, register=i // 2, element=i % 2) == (2 * t + (i & 1) + (8 if i >= 2 else 0), g)


def test_bytes_by_the_tables_of_ptx() -> None:
    """a0 … a15 of m16n8k32: row g for i < 4 and 8 <= i < 12, else g + 8; column 4 t + (i & 3), from i = 8 on + 16."""
    left, right = factor(MMA_SHAPES["i8"], left=True), factor(MMA_SHAPES["i8"], left=False)
    for (lane, (g, t)), i in itertools.product(LANES, range(16)):
        row, column = g if i < 4 or 8 <= i < 12 else g + 8, 4 * t + (i & 3) + (16 if i >= 8 else 0)
        assert left(lane=lane, register=i // 4, element=i % 4) == (column, row)
        if i < 8:  # b0 … b7: row 4 t + (i & 3), and 16 more for i >= 4; column g
            assert right(lane=lane, register=i // 4, element=i % 4) == (4 * t + (i & 3) + (16 if i >= 4 else 0), g)


def test_tf32_by_the_tables_of_ptx() -> None:
    """a0 (g, t), a1 (g + 8, t), a2 (g, t + 4), a3 (g + 8, t + 4); b0 (t, g), b1 (t + 4, g)."""
    left, right = factor(MMA_SHAPES["f32"], left=True), factor(MMA_SHAPES["f32"], left=False)
    for lane, (g, t) in LANES:
        assert [left(lane=lane, register=r) for r in range(4)] == [(t, g), (t, g + 8), (t + 4, g), (t + 4, g + 8)]
        assert [right(lane=lane, register=r) for r in range(2)] == [(t, g), (t + 4, g)]


FACTORS = [(mma, *which) for mma in SHAPES for which in ((True, False), (False, False), (False, True))]


@pytest.mark.parametrize("mma, left, pair", FACTORS)
def test_matrices_that_are_loaded_are_the_fragments(mma: MmaShape, left: bool, pair: bool) -> None:
    """Lane 4 g + t gets the t-th 4 bytes of row g of each matrix; of a transposed one column g of rows 2 t, 2 t + 1."""
    fragment, p = factor(mma, left, pair), mma.packed
    rows, columns = matrix_rows(fragment, transposed=False), matrix_rows(fragment, transposed=True)
    registers, elements = 1 << len(fragment.of_input("register")), range(p)
    for (lane, (g, t)), r, e in itertools.product(LANES, range(registers), elements):
        wanted = fragment(lane=lane, register=r, element=e)
        k, x = rows(lane=8 * r + g)
        assert (k + p * t + e, x) == wanted
        if p == 2:
            k, x = columns(lane=8 * r + 2 * t + e)
            assert (k, x + g) == wanted


ARRAYS = [(extent, steps) for extent in (8, 16, 32, 64, 128) for steps in (16, 32, 64, 128)]


@pytest.mark.parametrize("extent, steps", ARRAYS)
@pytest.mark.parametrize("mma, left, pair", FACTORS)
def test_matrix_loads_have_no_bank_conflicts(mma: MmaShape, left: bool, pair: bool, extent: int, steps: int) -> None:
    """The rows of each matrix lie in the eight different groups of four banks: the map from the bits of a row's number
    to those of its chunk among all banks is injective."""
    size, fragment = mma.bits // 8, factor(mma, left, pair)
    if fragment.shape[1] > extent or fragment.shape[0] > steps:
        return
    for transposed in (False, True) if size == 2 else (False,):
        shape, strides = ((steps, extent), (extent, 1)) if transposed else ((extent, steps), (1, steps))
        layout = swizzled(*shape, size)
        assert is_bijective(layout)
        lanes = LinearLayout.of((steps, extent), lane=matrix_rows(fragment, transposed).of_input("lane"))
        place = placed(lanes, strides, layout)
        chunks = [basis[0] * size >> 4 & 7 for basis in place.of_input("lane")[:3]]
        assert all(basis[0] * size % 16 == 0 for basis in place.of_input("lane"))  # whole chunks
        banks = LinearLayout.of((8,), row=[(chunk,) for chunk in chunks])
        assert image_size(banks) == 8 or shape[0] * shape[1] * size < 128  # as many chunks as banks hold


def test_a_swizzle_permutes_the_chunks_of_a_row() -> None:
    """Eight halves a chunk, eight chunks a row: chunk c of row r is at c ^ r."""
    layout = swizzled(16, 64, 2)
    for row, chunk, half in itertools.product(range(16), range(8), range(8)):
        assert layout(offset=64 * row + 8 * chunk + half) == (64 * row + 8 * (chunk ^ row % 8) + half,)
