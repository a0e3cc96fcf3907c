"""The algebra of linear layouts: composition and slices, against tables of all indices."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.passes.device.distribution.blocked import blocked

SHAPES = [
    ((64, 64), (1, 0), 8),
    ((64, 64), (0, 1), 4),
    ((1024,), (0,), 8),
    ((8, 4), (1, 0), 2),
    ((2, 16, 4), (1, 2, 0), 1),
]


def table(layout: LinearLayout) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The coordinates at each index."""
    extents = [range(1 << len(bases)) for bases in layout.bases]
    return {index: layout(**dict(zip(layout.names, index, strict=True))) for index in itertools.product(*extents)}


@pytest.mark.parametrize("shape, order, warps", SHAPES)
def test_a_blocked_layout_holds_each_element(shape: tuple[int, ...], order: tuple[int, ...], warps: int) -> None:
    layout = blocked(shape, order, warps, 32)
    held = Counter(table(layout).values())
    assert layout.names == ("register", "lane", "warp") and set(held) == set(itertools.product(*map(range, shape)))
    assert set(held.values()) == {max(1, 32 * warps // int(np.prod(shape)))}  # one copy, unless threads have no element


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


@pytest.mark.parametrize(
    "text, why",
    [
        ("lane[1][2]", "is not a linear layout"),
        ("lane[1][2] of", "is not a linear layout"),
        ("lane[1, x] of 4x4", "is not a linear layout"),
        ("lane[1][2] of 4x4", r"\[1\] is not an element of 4x4"),
        ("lane[1][4] of 4", r"\[4\] is not an element of 4"),
    ],
)
def test_what_is_not_a_layout(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        LinearLayout.parse(text)


def test_a_swizzle_is_composed_with_the_layout_of_a_matrix() -> None:
    """Rows of 8 whose columns are permuted by the row: what keeps banks of shared memory apart."""
    swizzle = LinearLayout.of((8, 8), row=[(1, 1), (2, 2), (4, 4)], column=[(0, 1), (0, 2), (0, 4)])
    transposed = LinearLayout.of((8, 8), lane=[(0, 1), (0, 2), (0, 4)], register=[(1, 0), (2, 0), (4, 0)])
    both = transposed.compose(swizzle, ["row", "column"])
    assert set(table(both).values()) == set(itertools.product(range(8), range(8)))
    assert all(both(lane=c, register=r) == (r, c ^ r) for r in range(8) for c in range(8))


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


def test_extents_that_are_no_powers_of_two_are_refused() -> None:
    with pytest.raises(ValueError, match="powers of two"):
        LinearLayout.identity("x", 12)
