"""Some calls and derivatives on edge values beside JAX; `fuzz_jax.py` and `fuzz_transforms.py` draw more of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("jax")


@pytest.mark.filterwarnings("ignore")
def test_calls_on_edge_values_agree_with_jax() -> None:
    from fuzz_jax import names, one

    first = int(np.random.default_rng().integers(2**31))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        found = [what for seed in range(first, first + 30) for rule, what in one(seed, names()) if not rule]
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore")
def test_derivatives_on_edge_values_agree_with_jax() -> None:
    from fuzz_transforms import one, table_of

    first = int(np.random.default_rng().integers(2**31))
    table = table_of()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        found = [what for seed in range(first, first + 5) for rule, what in one(seed, table) if not rule]
    assert not found, "\n".join(found)
