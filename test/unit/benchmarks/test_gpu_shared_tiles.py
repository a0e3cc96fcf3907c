"""The products by which stream-K is measured have shares of tiles, and its rows compare them with the best other."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.gpu.measurements import product_model
from benchmarks.gpu.shared_tiles import PARTS, SHARES, SIZES, SMALL, WHOLE, Size, row, schedules


@pytest.mark.parametrize("target", ["cuda:sm_80", "cuda:sm_90"])
@pytest.mark.parametrize("size", [*SIZES, *SMALL])
def test_every_product_has_shares_and_whole_sums(size: Size, target: str) -> None:
    found = schedules(product_model("float16", size, np.ones(size[:0:-1], np.float16)), target)
    assert found.keys() == {WHOLE, SHARES} | ({PARTS} if size == SIZES[-1] else set())
    assert [name for name, text in found.items() if "streamk=" in text] == [SHARES]
    assert [name for name, text in found.items() if "part@" in text] == [*found.keys() & {PARTS}]


def test_stream_k_is_compared_with_the_best_other() -> None:
    right = {"error": 1e-4, "right": True}
    found = row((1, 2, 3), {WHOLE: (3e-5, right), PARTS: (2e-5, right), SHARES: (1e-5, right)})
    assert found["speed of the best other"] == 2 and found["right"] and found["stream-K µs"] == 10
    wrong = row((1, 2, 3), {WHOLE: (3e-5, right), SHARES: (4e-5, {"error": 1.0, "right": False})})
    assert wrong["speed of the best other"] == 0.75 and not wrong["right"] and "equal parts µs" not in wrong
