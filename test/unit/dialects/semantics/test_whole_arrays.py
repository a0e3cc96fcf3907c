"""Statements on whole arrays compute what the reference interpreter does, element by element."""

from __future__ import annotations

import numpy as np
import pytest

from mlc.dialects.semantics import whole_arrays
from mlc.dialects.semantics.evaluate import evaluate_statement
from mlc.dialects.semantics.expr import parse
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.semantics.whole_arrays import WholeArrays, closure_of

STATEMENTS = [
    (statement("i j", (4, 5, 6), "x0[i, k] * x1[k, j]", reduce="k", monoid="add"), (4, 5)),
    (statement("i", (4, 6, 3), "x0[i, k] + x0[i, r]", reduce="k r", monoid="max"), (4,)),
    (statement("", (4, 6), "x0[k, r]", reduce="k r", monoid="min"), ()),
    (statement("i", (4, 6), "where(x0[i, k] > 0, k, 9)", out="i; 0", reduce="k", monoid="min"), (4, 1)),
    (statement("i j", (4, 6), "x0[i, j] * 2", out="i + 1; j * 2"), (6, 12)),
    (statement("i", (4, 0), "x0[i, k]", reduce="k", monoid="mul"), (4,)),
    (statement("i j", (3, 5), "x0[i, (j + 2) % 6]", out="j; i"), (5, 3)),
]


@pytest.mark.parametrize("given, shape", STATEMENTS)
@pytest.mark.parametrize("most", [1 << 20, 8])
def test_against_the_reference(
    given: Statement, shape: tuple[int, ...], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_arrays, "MOST_ELEMENTS", most)
    rng = np.random.default_rng()
    operands = [rng.normal(size=(4, 6)), rng.normal(size=(6, 5))]
    found, wanted = np.zeros(shape), np.zeros(shape)
    WholeArrays(given)(operands, found, {})
    evaluate_statement(given, operands, wanted, {})
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_constants_of_one_value_have_their_types() -> None:
    """0 and 0.0 are equal, and are not the same expression."""
    x = [np.arange(3)]
    whole, real = closure_of(parse("x0[0 * x0[1]]")), closure_of(parse("x0 * 0.0"))
    assert whole(x, {}).dtype == np.int64 and real(x, {}).dtype == np.float64
