"""Arithmetic of symbolic dimensions against Python's on random numbers, also after it is printed and parsed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlc.dialects.semantics.dims import condition, equality, evaluate, parse_dim, pretty

NUMBERS = st.fixed_dictionaries({"n": st.integers(0, 50), "m": st.integers(0, 50)})


@pytest.mark.parametrize("text", [
    "(3*n + 2*m)//2", "(4*n + 6)//4", "(n*m + n)//3", "2*n - (n + m)//5", "max(n + 2, n - 1)", "min(n + 2, n - 1)",
    "max(n, m)*3 - min(n, m)", "(n + 7) % 4", "-n//2", "((n + 1)//2 + m)//3", "-(m - n)*(n - m)",
    "((n - 1)//2 + 1 - 5)//4 + 1", "(6*n + 3)//4 - (2 - 9*m)//6", "(2*n + 2)//(n + 1)", "(4*n*m + 4*m)//(8*n + 8)",
    "(2*n + m)//(2*n + 2)", "(6*n*m + 6*n)//(4*n + 4)", "(5*n + 7)//(n + 1)",
    "n//(-2)", "-((n - 1)//(-3))", "(4*n + 6)//(-4) + m//(-1)",
])  # fmt: skip
@given(values=NUMBERS)
def test_a_dimension_is_what_python_computes(text: str, values: dict[str, int]) -> None:
    wanted = eval(text, {"max": max, "min": min}, dict(values))
    dim = parse_dim(text)
    assert evaluate(dim, values) == evaluate(parse_dim(str(dim)), values) == wanted


@pytest.mark.parametrize(("text", "canonical"), [
    ("((n - 1)//2 + 1 - 1)//2 + 1", "(n+3)//4"), ("(2*n + 2)//(n + 1)", "2"), ("(4*n*m + 4*m)//(8*n + 8)", "m//2"),
    ("(m*n)//(160*m)", "n//160"), ("-(-n//2)", "(n+1)//2"), ("(4*n + 6)//4", "n+1"),
    ("-(n//(-2))", "(n+1)//2"), ("(512*m*n - 3072*m)//(m*n - 6*m)", "512"),
])  # fmt: skip
def test_divisions_have_one_form(text: str, canonical: str) -> None:
    assert pretty(parse_dim(text)) == canonical


@pytest.mark.parametrize(("zero", "text"), [
    ("n - 2*(n//2)", "n is a multiple of 2"), ("n + m - 7", "m+n == 7"),
    ("8*((n + 31)//32) - (n + 3)//4", "(n+3)//4 == 8*((n+31)//32)"),
])  # fmt: skip
def test_equalities_read_as_conditions(zero: str, text: str) -> None:
    assert condition(equality(parse_dim(zero))) == text
