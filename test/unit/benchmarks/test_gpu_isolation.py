"""Measurements in processes of their own."""

from __future__ import annotations

import math
import os
import signal
import time

import pytest

from benchmarks.gpu.isolation import Measures, Row, in_one_process, isolated


def test_a_row_comes_back() -> None:
    assert isolated(lambda: {"ms": 1.5, "pid": os.getpid()}, 5)["pid"] != os.getpid()


def _raises() -> Row:
    raise ValueError("no such kernel")


def _hangs() -> Row:
    time.sleep(60)
    return {}


def _crashes() -> Row:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


@pytest.mark.parametrize("work, why", [
    (_raises, "ValueError: no such kernel"),
    (_hangs, "it took longer than 1 s"),
    (_crashes, "the process ended by SIGKILL"),
    (lambda: os._exit(3), "the process ended without a row"),
])  # fmt: skip
def test_what_fails_leaves_the_others(work: object, why: str) -> None:
    assert isolated(work, 1) == {"failed": why}  # type: ignore[arg-type]


def test_rows_share_a_process_until_one_fails() -> None:
    def measures(first: int) -> Measures:
        works = [lambda: {"pid": os.getpid()}, lambda: {"pid": os.getpid()}, _raises, lambda: {"pid": os.getpid()}]
        return lambda: works[first:]

    one, two, failed = in_one_process(measures(0), 5, math.inf)
    assert one == two != {"pid": os.getpid()} and failed == {"failed": "ValueError: no such kernel"}
    assert next(in_one_process(measures(3), 5, math.inf)) != one


def test_a_limit_is_of_each_row_and_of_the_whole() -> None:
    def short() -> Row:
        time.sleep(0.6)
        return {"right": True}

    assert list(in_one_process(lambda: [short] * 3, 1, math.inf)) == [{"right": True}] * 3
    rows = list(in_one_process(lambda: [short] * 3, 1, time.monotonic() + 1))
    assert rows == [{"right": True}, {"failed": "no time was left"}]
