"""Some random small loops beside NumPy; `fuzz_loops.py` draws any number of them."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz_loops import one


@pytest.mark.filterwarnings("ignore")
def test_small_loops_agree_with_numpy() -> None:
    first = int(np.random.default_rng().integers(2**31))
    found = [what for seed in range(first, first + 6) if (what := one(seed, transforms=False))]
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore")
def test_batches_and_derivatives_of_small_loops() -> None:
    first = int(np.random.default_rng().integers(2**31))
    found = [what for seed in range(first, first + 2) if (what := one(seed))]
    assert not found, "\n".join(found)
