"""The arena planner: buffers alive together never overlap, and the arena is near its lower bound."""

from __future__ import annotations

import random

import pytest

from mlc.passes.plan.program.offsets import live_bytes, place


def check(ranges: list[tuple[int, int]], sizes: list[int]) -> tuple[int, int]:
    """(arena, lower bound) of a plan that holds."""
    offsets = place(ranges, sizes)
    for n, (first, last) in enumerate(ranges):
        for k in range(n):
            if first <= ranges[k][1] and ranges[k][0] <= last:
                apart = offsets[n] + sizes[n] <= offsets[k] or offsets[k] + sizes[k] <= offsets[n]
                assert apart, (n, k)
    bound = max((sum(s for (a, b), s in zip(ranges, sizes, strict=True) if a <= t <= b) for t, _ in ranges), default=0)
    assert live_bytes(ranges, sizes) == bound
    return max((o + s for o, s in zip(offsets, sizes, strict=True)), default=0), bound


def test_none() -> None:
    assert place([], []) == []


def test_a_chain_needs_two_neighbours() -> None:
    sizes = [3, 5, 8, 2, 7, 1]
    arena, bound = check([(n, n + 1) for n in range(6)], sizes)
    assert arena == bound == 13


def test_greedy_by_size_alone_is_not_enough() -> None:
    """Encoder and decoder with skip connections: what lives longest is not what is largest."""
    widths = [64, 32, 16, 8]
    ranges = [(n, 7 - n) for n in range(4)] + [(n, n + 1) for n in range(8)]
    sizes = [*widths, *(3 * w for w in widths), *(3 * w for w in reversed(widths))]
    arena, bound = check(ranges, sizes)
    assert arena <= 1.02 * bound


@pytest.mark.parametrize("seed", range(5))
def test_random_plans_hold(seed: int) -> None:
    generator = random.Random(seed)
    starts = [generator.randrange(60) for _ in range(70)]
    ranges = [(start, start + generator.choice([1, 1, 2, 9])) for start in starts]
    arena, bound = check(ranges, [64 * generator.randint(1, 99) for _ in ranges])
    assert arena <= 1.25 * bound
