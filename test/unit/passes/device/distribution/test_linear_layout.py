"""The algebra of linear layouts: composition, inversion, conversions, against tables of all indices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mlc.passes.device.distribution.blocked import blocked
from mlc.passes.device.distribution.linear_layout import INPUTS, LinearLayout, inputs_of

SHAPES = [
    ((64, 64), (1, 0), 8),
    ((64, 64), (0, 1), 4),
    ((1024,), (0,), 8),
    ((8, 4), (1, 0), 2),
    ((2, 16, 4), (1, 2, 0), 1),
]


def table(layout: LinearLayout) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The coordinates at each index."""
    extents = [range(n) for n in inputs_of(layout).values()]
    return {index: layout(**dict(zip(layout.names, index, strict=True))) for index in itertools.product(*extents)}


@pytest.mark.parametrize("shape, order, warps", SHAPES)
def test_a_blocked_layout_holds_each_element(shape: tuple[int, ...], order: tuple[int, ...], warps: int) -> None:
    layout = blocked(shape, order, warps, 32)
    assert layout.names == INPUTS and layout.surjective
    assert set(table(layout).values()) == set(itertools.product(*map(range, shape)))
    assert layout.injective == (int(np.prod(shape)) >= 32 * warps)


@pytest.mark.parametrize("shape, order, warps", SHAPES)
def test_neighbouring_lanes_have_neighbouring_elements(
    shape: tuple[int, ...], order: tuple[int, ...], warps: int
) -> None:
    layout, fast = blocked(shape, order, warps, 32), order[0]
    run = min(32, shape[fast])
    assert [layout(lane=n)[fast] for n in range(run)] == [*range(run)]
    assert all(x == 0 for n in range(run) for axis, x in enumerate(layout(lane=n)) if axis != fast)


@pytest.mark.parametrize("shape, order, warps", SHAPES)
def test_the_text_of_a_layout_is_read_back(shape: tuple[int, ...], order: tuple[int, ...], warps: int) -> None:
    layout = blocked(shape, order, warps, 32)
    assert LinearLayout.parse(str(layout)) == layout


@pytest.mark.parametrize("shape, order, warps", SHAPES)
def test_an_inverse_finds_each_element(shape: tuple[int, ...], order: tuple[int, ...], warps: int) -> None:
    layout = blocked(shape, order, warps, 32)
    axes = [f"x{n}" for n in range(len(shape))]
    inverse = layout.inverse(axes)
    for coordinate in itertools.product(*map(range, shape)):
        index = inverse(**dict(zip(axes, coordinate, strict=True)))
        assert layout(**dict(zip(layout.names, index, strict=True))) == coordinate


def test_the_inverse_of_a_swizzle() -> None:
    """Rows of 8 whose columns are permuted by the row: what keeps banks of shared memory apart."""
    swizzle = LinearLayout.of((8, 8), row=[(1, 1), (2, 2), (4, 4)], column=[(0, 1), (0, 2), (0, 4)])
    assert swizzle.injective and swizzle.surjective
    assert swizzle(row=3, column=5) == (3, 3 ^ 5)
    back = swizzle.compose(swizzle.inverse(["r", "c"]), ["r", "c"])
    assert all(back(row=r, column=c) == (r, c) for r in range(8) for c in range(8))


def test_a_conversion_says_where_elements_move() -> None:
    rows, columns = blocked((16, 32), (1, 0), 2, 32), blocked((16, 32), (0, 1), 2, 32)
    moved = rows.conversion(columns)
    for index, coordinate in table(rows).items():
        place = moved(**dict(zip(INPUTS, index, strict=True)))
        assert columns(**dict(zip(INPUTS, place, strict=True))) == coordinate
    same = rows.conversion(rows)
    assert all(same(**dict(zip(INPUTS, index, strict=True))) == index for index in table(rows))


def test_composition_of_maps_is_that_of_their_tables() -> None:
    random = np.random.default_rng()
    first = LinearLayout.of((8, 4), a=[tuple(random.integers(0, (8, 4)).tolist()) for _ in range(4)])
    then = LinearLayout.of(
        (16,), x=[(int(n),) for n in random.integers(0, 16, 3)], y=[(int(n),) for n in random.integers(0, 16, 2)]
    )
    both = first.compose(then, ["x", "y"])
    for n in range(16):
        x, y = first(a=n)
        assert both(a=n) == then(x=x, y=y)


def test_slices_free_threads_that_have_equal_elements() -> None:
    layout = blocked((8, 64), (1, 0), 8, 32).sliced([0])
    assert layout.free("lane") == 31 and layout.free("warp") == 0 and layout.free("register") == 1
    assert {c[1] for c in table(layout).values()} == {0}


def test_layouts_without_an_inverse_or_of_other_extents_are_refused() -> None:
    with pytest.raises(ValueError, match="does not reach"):
        LinearLayout.of((4,), lane=[(1,), (1,)]).inverse(["x"])
    with pytest.raises(ValueError, match="powers of two"):
        LinearLayout.identity("x", 12)
