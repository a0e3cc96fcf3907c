"""Balanced blocks: of n units rank c has n // p, and one more where c < n % p, as ``numpy.array_split``."""

from __future__ import annotations


def count(units: int, blocks: int, rank: int) -> int:
    """Return how many units a rank has."""
    return units // blocks + (rank < units % blocks)


def first(units: int, blocks: int, rank: int) -> int:
    """Return the first unit that a rank has; of rank ``blocks`` the end."""
    return units // blocks * rank + min(rank, units % blocks)
