"""A few cases of the onnx package and random graphs, partitioned; ``fuzz_partitions.py`` takes as many as one likes."""

from __future__ import annotations

import numpy as np
from fuzz_partitions import check, check_open, models
from partitioned import Found


def test_partitions_equal_one_rank() -> None:
    found, seed = Found(), int(np.random.default_rng().integers(1 << 16))
    problems = [problem for name, make in models(4, 2, seed) if (problem := check(name, make, found))]
    assert not problems, f"seed {seed}: {problems[0]}"


def test_partitions_of_run_time_extents_equal_one_rank() -> None:
    found, seed = Found(), int(np.random.default_rng().integers(1 << 16))
    problems = [problem for n in range(4) if (problem := check_open(seed + n, found, tries=1))]
    assert not problems, f"seed {seed}: {problems[0]}"
    assert found.compared
