"""Several threads may compile; one at a time runs passes, which share isl's context."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from onnx import helper

import mlc
from mlc.driver import lower


def model(factor: float) -> bytes:
    infos = [helper.make_tensor_value_info(name, 1, [3]) for name in "xy"]
    node = helper.make_node("LeakyRelu", ["x"], ["y"], alpha=factor)
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=9)
    return proto.SerializeToString()  # type: ignore[no-any-return]


def test_passes_of_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    active, most = 0, 0
    original = lower.lower

    def counted(*args: Any) -> Any:
        nonlocal active, most
        active += 1
        most = max(most, active)
        time.sleep(0.02)  # another thread gets its chance
        found = original(*args)
        active -= 1
        return found

    monkeypatch.setattr(lower, "lower", counted)
    factors: Sequence[float] = np.random.default_rng().uniform(size=4).tolist()
    with ThreadPoolExecutor(4) as pool:
        nets = list(pool.map(lambda factor: mlc.compile(model(factor)), factors))
    for factor, net in zip(factors, nets, strict=True):
        np.testing.assert_allclose(net(np.full(3, -2, np.float32)), -2 * factor, rtol=1e-6)
    assert most == 1
