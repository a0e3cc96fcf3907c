"""Index expressions of symbolic dimensions alone become dimensions of the same value."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlc.dialects.semantics.dims import evaluate
from mlc.dialects.semantics.expr import parse
from mlc.passes.kernel.lowering.affine import as_dim


def _sums(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
    divided = st.tuples(inner, st.sampled_from(["//", "%"]), st.integers(1, 5)).map(lambda t: f"{t[0]} {t[1]} {t[2]}")
    ends = st.tuples(st.sampled_from(["max", "min"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})")
    return st.one_of(two, divided.map("({})".format), ends, inner.map("(-{})".format))


@example("(-n) // 3 * 3", 7, 1)
@given(st.recursive(st.sampled_from(["n", "m", "1", "3"]), _sums, max_leaves=6), st.integers(0, 9), st.integers(1, 9))
def test_a_sum_of_dimensions_keeps_its_value(text: str, n: int, m: int) -> None:
    dim = as_dim(parse(text))
    assert dim is not None
    assert evaluate(dim, {"n": n, "m": m}) == eval(text, {"n": n, "m": m, "max": max, "min": min})


@pytest.mark.parametrize("text", ["x0[n]", "n*x1", "exp(n)"])
def test_what_depends_on_data_is_no_dimension(text: str) -> None:
    assert as_dim(parse(text)) is None
