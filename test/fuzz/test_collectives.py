"""A few random programs with collectives; ``fuzz_collectives.py`` takes many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from fuzz_collectives import check


def test_random_programs_with_collectives(tmp_path: Path) -> None:
    for seed in np.random.default_rng().integers(1 << 20, size=3):
        check(int(seed), tmp_path)
