"""The work of compiling grows with the model: twice as large, at most little more than twice as many calls of functions
(which are counted, as seconds would not be the same twice)."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from benchmarks.models.growing import KINDS
from mlc.api import make_options
from mlc.driver.compile import lower_source
from mlc.driver.onnx_source import OnnxSource
from mlc.passes.graph import verify_graph

OPTIONS = make_options("x86-64-v3", 2, tuned=False)


def lower(kind: str, size: int) -> None:
    lower_source(OnnxSource.named(kind, KINDS[kind].make(size).SerializeToString()), OPTIONS, until="plan")


def calls(kind: str, size: int) -> int:
    """Calls of functions of Python and of C, isl's among them."""
    count = 0

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        lower(kind, size)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("kind", "size"),
    [("relu", 150), ("sin", 150), ("mixed", 150), ("diamond", 140), ("conv", 40), ("concat", 400), ("sum", 150)]
    + [("outputs", 100)],
)
def test_work_grows_with_the_model(kind: str, size: int) -> None:
    lower(kind, 2 * size)  # what is kept for later compilations is there
    small, large = calls(kind, size), calls(kind, 2 * size)
    assert large < 2.4 * small, f"{kind}: {small} calls for {size} nodes, {large} for twice as many"


def test_one_of_equal_operators_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    verified = []
    verify = verify_graph._verify_op
    monkeypatch.setattr(verify_graph, "_verify_op", lambda op: verified.append(op) or verify(op))
    lower("sin", 1000)
    assert 0 < len(verified) < 50
