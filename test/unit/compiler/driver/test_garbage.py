"""Garbage collection is off while passes run, and as before afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from onnx import helper

import mlc
from mlc.driver import lower
from mlc.driver.garbage import paused_collection


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("on", [True, False])
def test_what_was_on_is_on_again(on: bool) -> None:
    (gc.enable if on else gc.disable)()
    with pytest.raises(ValueError, match="inside"), paused_collection(), paused_collection():
        assert not gc.isenabled()
        raise ValueError("inside")
    assert gc.isenabled() is on


def test_no_collection_while_passes_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    original = lower.lower

    def watched(*args: Any) -> Any:
        seen.append(gc.isenabled())
        return original(*args)

    monkeypatch.setattr(lower, "lower", watched)
    gc.enable()
    infos = [helper.make_tensor_value_info(name, 1, [5]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", infos[:1], infos[1:])
    mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=9).SerializeToString())
    assert seen == [False]
    assert gc.isenabled()
