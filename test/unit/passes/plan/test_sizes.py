"""What sizes that depend on data can come to at most."""

from __future__ import annotations

import itertools

import pytest

from mlc.dialects.graph.sizes import sizes_of, upper
from mlc.dialects.semantics.dims import DimLike, evaluate, parse_dim

BOUNDS = {"size0": parse_dim("3*n"), "size1": 4}


@pytest.mark.parametrize(
    ("value", "most"),
    [
        ("7", "7"),
        ("n", "n"),
        ("2*size0+1", "6*n+1"),
        ("size0*size1", "12*n"),
        ("10*n-size0", "10*n"),
        ("size1-size0", "4"),
        ("(size0+1)//2", "(3*n+1)//2"),
        ("n//size1", "n"),
        ("max(size0, n)-n", "max(3*n, n)-n"),
        ("min(size0, 5)", "min(3*n, 5)"),
        ("-((-size0)//4)", "-((-3*n)//4)"),
        ("-((2-size0)//4)+1", "-((2-3*n)//4)+1"),
        ("(8-size0)//4", "2"),
        ("-2*((-size0)//4)*size1", "-8*((-3*n)//4)"),
        ("((-size0)//4)*((-size1)//2)", "-2*((-3*n)//4)"),
        ("size1-((-n)//4)", "4-((-n)//4)"),
        ("n*((-size0)//4)+9*n", "9*n"),
    ],
)
def test_upper(value: str, most: str) -> None:
    found = upper(parse_dim(value), BOUNDS)
    assert found == upper(parse_dim(most), {}) and not sizes_of([found])
    for n, first, second in itertools.product(range(1, 4), range(10), range(5)):
        if first <= 3 * n and (second or "//size1" not in value):
            at: dict[str, DimLike] = {"n": n, "size0": first, "size1": second}
            assert evaluate(parse_dim(value), at) <= evaluate(found, at)  # type: ignore[operator]
