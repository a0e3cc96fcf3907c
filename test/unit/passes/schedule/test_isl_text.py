"""Dimension expressions as text of isl: isl computes the values that they have."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

from mlc.dialects.semantics.dims import Dim, DimLike, evaluate
from mlc.passes.schedule.polyhedral.isl_text import Params

N, M = Dim.symbol("n"), Dim.symbol("m")
DIMS: tuple[DimLike, ...] = (-N, N - M, 3 - N, 5 - 2 * N + M, -7 * M, N * M - N, (N + 1) // 2 - M, 4)


def value(dim: DimLike, symbols: dict[str, int]) -> int:
    """The value that isl gives the text of ``dim``."""
    params = Params([dim], frozenset())
    given = {name: evaluate(each, symbols) for name, each in params.values.items()}
    fixed = " and ".join(f"{name} = {number}" for name, number in given.items()) or "1 = 1"
    points = isl.Set(f"{params.prefix}{{ [x] : x = {params.text(dim)} and {fixed} }}").project_out_all_params()
    return int(points.sample_point().get_coordinate_val(isl.dim_type.set, 0).get_num_si())


@pytest.mark.parametrize("dim", DIMS, ids=str)
def test_isl_computes_the_value_of_a_dimension(dim: DimLike) -> None:
    random = np.random.default_rng()
    symbols = {"n": int(random.integers(1, 50)), "m": int(random.integers(50, 99))}
    assert value(dim, symbols) == evaluate(dim, symbols)
