"""Arithmetic of symbolic dimensions against Python's on random numbers, also after it is printed and parsed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlc.dialects.semantics.dims import evaluate, parse_dim

NUMBERS = st.fixed_dictionaries({"n": st.integers(0, 50), "m": st.integers(0, 50)})


@pytest.mark.parametrize("text", [
    "(3*n + 2*m)//2", "(4*n + 6)//4", "(n*m + n)//3", "2*n - (n + m)//5", "max(n + 2, n - 1)", "min(n + 2, n - 1)",
    "max(n, m)*3 - min(n, m)", "(n + 7) % 4", "-n//2", "((n + 1)//2 + m)//3", "-(m - n)*(n - m)",
])  # fmt: skip
@given(values=NUMBERS)
def test_a_dimension_is_what_python_computes(text: str, values: dict[str, int]) -> None:
    wanted = eval(text, {"max": max, "min": min}, dict(values))
    dim = parse_dim(text)
    assert evaluate(dim, values) == evaluate(parse_dim(str(dim)), values) == wanted
