"""Measurements in processes of their own."""

from __future__ import annotations

import os
import signal
import time

import pytest

from benchmarks.gpu.isolation import Row, isolated


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
