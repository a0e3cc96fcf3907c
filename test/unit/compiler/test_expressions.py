"""Parsing from several threads at once; names of dimensions."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from mlc.expressions import parse_expression, shown_names, signature_names, source_names

DEEP = "(" * 60 + "x0" + " + 1)" * 60


class Slow:
    """Garbage that only the collector finds, and whose finalizer lets other threads run."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        sum(range(100))


@pytest.fixture
def busy_collector() -> Iterator[None]:
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(5, 2, 2)
    sys.setswitchinterval(1e-6)
    yield
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)


def test_names_are_shown_as_the_source_has_them() -> None:
    assert source_names("2*n_ + seq_ <= long_ + a_b_") == "2*n + seq_ <= long + a_b_"


def test_a_signature_has_the_names_that_an_expression_can_have() -> None:
    assert signature_names("2*n_ + n__ + if_ + size0_ + EOF_ + seq_") == "2*n + n_ + if_ + size0_ + EOF + seq_"
    assert shown_names("2*n + n_ + if_ + size0_") == "2*n + n_ + if + size0"


def test_threads_parse_at_the_same_time(busy_collector: None) -> None:
    """Without the lock, ``ast.parse`` raises SystemError in one of five calls before CPython 3.11.8."""

    def parsed(_: int) -> str:
        for _ in range(20):
            Slow()
        return ast.dump(parse_expression(DEEP))

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(parsed, range(400)))) == 1
