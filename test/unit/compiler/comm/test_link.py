"""The alpha–beta model: fits of exact and of measured times, on ranks that are threads."""

from __future__ import annotations

import numpy as np
import pytest

from mlc import comm
from mlc.comm.link import Link, Sample, cost, shown
from mlc.comm.measure import KINDS, measured
from mlc.errors import InputError


def samples(alpha: float, beta: float, ranks: int = 4) -> list[Sample]:
    made = [(kind, size, *cost(kind, size, ranks)) for kind in KINDS for size in (1 << 10, 1 << 16, 1 << 22)]
    return [Sample(*each, alpha * each[2] + beta * each[3]) for each in made]


@pytest.mark.parametrize("alpha, beta", [(2e-5, 2e-10), (0.0, 1e-9), (1e-5, 0.0)])
def test_exact_times_are_fitted_exactly(alpha: float, beta: float) -> None:
    link = Link.fit(samples(alpha, beta))
    assert np.isclose(link.alpha, alpha, atol=1e-12) and np.isclose(link.beta, beta, atol=1e-17)


def test_what_a_rank_sends() -> None:
    assert cost("all_reduce", 1 << 20, 4) == (2, 2 * 3 * (1 << 18)) and cost("all_reduce", 1024, 4) == (1, 3 * 1024)
    assert cost("all_gather", 1024, 4) == (1, 3 * 1024) and cost("all_to_all", 1024, 4) == (1, 768)


def test_measured_on_two_ranks() -> None:
    def run(rank: int) -> str:
        before = comm.current().sent  # type: ignore[attr-defined]
        found = measured((1 << 10, 1 << 14), repeats=1)
        sent = comm.current().sent - before  # type: ignore[attr-defined]
        assert 3 * sum(s.sent for s in found) <= sent <= 3 * sum(s.sent for s in found) + 1024 * len(KINDS)  # and joins
        return shown(found, Link.fit(found), 2)

    for text in comm.in_threads(2, run, limit=60):
        assert text.startswith("2 ranks: ") and text.count("all_gather") == 2


def test_one_rank_is_refused() -> None:
    with pytest.raises(InputError, match="There is one rank"):
        measured()
