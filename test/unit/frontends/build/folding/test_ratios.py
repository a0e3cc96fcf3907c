"""Floats of sizes as fractions: what f32 gives, at random sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlc.dialects.semantics.dims import Dim, evaluate, pretty
from mlc.dialects.semantics.expr import parse
from mlc.frontends.build.folding.fold import Undecided, fold_expr

N = np.array(Dim.symbol("n"), dtype=object)


@pytest.mark.parametrize(("text", "dim"), [
    ("i64(floor(f32(x0) * 1.5))", "(3*n)//2"),
    ("i64(ceil(f32(x0) / 3.0))", "(n+2)//3"),
    ("i64(f32(x0) * 0.25 + 0.5)", "(n+2)//4"),
    ("i64(floor(f32(x0) / 7.0))", "n//7"),
    ("i64(floor(f32(x0) * 2.0) - 1.0)", "2*n-1"),
])  # fmt: skip
@given(n=st.integers(1, 1 << 18))
def test_a_fraction_is_what_f32_gives(text: str, dim: str, n: int) -> None:
    found = fold_expr(parse(text), [N], "i64", ratios=True).item()
    assert pretty(found) == dim
    assert evaluate(found, {"n": n}) == fold_expr(parse(text), [np.array(n)], "i64").item()


@pytest.mark.parametrize("text", [
    "i64(floor(f32(x0) * 0.7))", "i64(f32(x0) / 3.0 * 3.0)", "i64(f32(x0) - 2.0)", "i64(sqrt(f32(x0)))",
])  # fmt: skip
def test_what_floats_may_round_is_left_to_the_run(text: str) -> None:
    with pytest.raises(Undecided):
        fold_expr(parse(text), [N], "i64", ratios=True)
