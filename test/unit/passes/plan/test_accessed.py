"""Sets of bytes as intervals in order say the same as sets of bytes."""

from __future__ import annotations

import random

import numpy as np

from mlc.passes.plan.program.accessed import Spans


def test_spans_are_sets_of_bytes() -> None:
    seed = np.random.SeedSequence().entropy % 2**32
    print(f"seed {seed}")
    choose = random.Random(seed)
    for _ in range(200):
        spans, held = Spans(), set[int]()
        for _ in range(30):
            first = choose.randrange(100)
            end = first + choose.randrange(1, 9)
            assert spans.meets(first, end) == (not held.isdisjoint(range(first, end)))
            if choose.random() < 0.5:
                spans.add(first, end)
                held |= {*range(first, end)}
        assert all(end < start for end, start in zip(spans.ends, spans.starts[1:], strict=False))
