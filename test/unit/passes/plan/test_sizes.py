"""What sizes that depend on data can come to at most."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
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
        ("-((size0//2-size0)//2)", "-((-3*n)//2)"),
        ("(size1-size0)//2+n", "2+n"),
    ],
)
def test_upper(value: str, most: str) -> None:
    found = upper(parse_dim(value), BOUNDS)
    assert found == upper(parse_dim(most), {}) and not sizes_of([found])
    for n, first, second in itertools.product(range(1, 4), range(10), range(5)):
        if first <= 3 * n and (second or "//size1" not in value):
            at: dict[str, DimLike] = {"n": n, "size0": first, "size1": second}
            assert evaluate(parse_dim(value), at) <= evaluate(found, at)  # type: ignore[operator]


def drawn(random: Random, depth: int) -> str:
    """An expression of sizes, of which no value but that of the whole has a sign that is known."""
    if depth == 0:
        return random.choice(["n", "size0", "size0", "size1", str(random.randint(1, 5))])
    a, b = drawn(random, depth - 1), drawn(random, random.randrange(depth))
    divisor = random.choice([str(random.randint(1, 4)), "(size1+1)"])
    return random.choice([f"({a}+{b})", f"({a}-{b})", f"({a}-{b})", f"({a})*({b})", f"(({a})//{divisor})",
                          f"max({a}, {b})", f"min({a}, {b})"])  # fmt: skip


def test_no_value_is_above_the_upper_bound() -> None:
    random = Random(int(np.random.default_rng().integers(1 << 30)))
    for _ in range(300):
        text = drawn(random, random.randint(1, 3))
        value = parse_dim(text)
        found = upper(value, BOUNDS)
        assert not sizes_of([found])
        for n, first, second in itertools.product((1, 3), range(10), range(5)):
            if first <= 3 * n:
                at: dict[str, DimLike] = {"n": n, "size0": first, "size1": second}
                assert evaluate(value, at) <= evaluate(found, at), (text, at)  # type: ignore[operator]
