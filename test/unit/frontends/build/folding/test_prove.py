"""Proofs about dimensions: what is proved holds at random sizes, and what models need is proved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlc.dialects.semantics.dims import DimLike, condition, equality, evaluate, parse_dim
from mlc.frontends.build.folding.prove import always_zero, assuming, never_negative, never_zero
from mlc.frontends.build.guards import merged

PROVED = [
    "n//2 + 1 - (n + 1)//2", "n - min(n, 9)", "max(n, m) - m", "(n + 1)//2 - 1", "3*((n + 2)//3) - n", "n*m - m",
    "min(n, 512) - min(n, 9)",
]  # fmt: skip
OPEN = ["n - 2", "2*(n//2) - n", "n - m", "n*m - 2*m", "min(n, 9) - 2", "n//m - 1"]


@pytest.mark.parametrize("text", PROVED)
@given(n=st.integers(1, 40), m=st.integers(1, 40))
def test_what_is_never_negative(text: str, n: int, m: int) -> None:
    value = parse_dim(text)
    assert never_negative(value) and evaluate(value, {"n": n, "m": m}) >= 0  # type: ignore[operator]


@pytest.mark.parametrize("text", OPEN)
def test_what_may_be_negative(text: str) -> None:
    assert not never_negative(parse_dim(text))


def test_zeros() -> None:
    assert never_zero(parse_dim("2*n - 2*m + 1")) and not never_zero(parse_dim("2*n - 2*m + 2"))
    assert always_zero(parse_dim("n//2 + (n + 1)//2 - n")) and not always_zero(parse_dim("n - 2*(n//2)"))


def test_guards_are_known() -> None:
    even = equality(parse_dim("n - 2*(n//2)"))
    assert not never_negative(parse_dim("2*(n//2) - n"))
    with assuming([even, parse_dim("n - 5")]):
        assert never_negative(parse_dim("2*(n//2) - n")) and never_negative(parse_dim("n - 6"))


MERGED = [
    (["n - 2*(n//2)", "n//2 - 2*(n//4)", "n//4 - 2*(n//8)"], ["n is a multiple of 8"]),
    (["(n+3)//4 - 2*((n+7)//8)", "(n+7)//8 - 2*((n+15)//16)"], ["(n+3)//4 is a multiple of 4"]),
    (["min(n, 512) - n"], ["n <= 512"]),
    (["m - n", "n - m"], ["m == n"]),
    (["n*m - 4*(n*m//4)"], ["m*n is a multiple of 4"]),
]


@pytest.mark.parametrize(("zeros", "conditions"), MERGED)
@given(n=st.integers(0, 70), m=st.integers(0, 70))
def test_merged_guards_hold_where_all_do(zeros: list[str], conditions: list[str], n: int, m: int) -> None:
    guards = {equality(parse_dim(zero)): "" for zero in zeros}
    found = merged(guards)  # type: ignore[arg-type]
    assert [condition(g) for g in found] == conditions
    assert _hold(found, n, m) == _hold(guards, n, m)


def test_weaker_guards_are_dropped() -> None:
    found = merged({parse_dim(g): g for g in ("9 - n", "7 - n", "(n + 7)//8 - 2", "n")})  # type: ignore[misc]
    assert sorted(map(condition, found)) == ["n <= 7", "n >= 9"]


def _hold(guards: dict[DimLike, str], n: int, m: int) -> bool:  # type: ignore[type-arg]
    return all(evaluate(g, {"n": n, "m": m}) >= 0 for g in guards)  # type: ignore[operator]
