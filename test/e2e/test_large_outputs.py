"""Several large outputs: each call writes them where those of the call before lay, if nobody holds these any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import mlc

pytestmark = pytest.mark.usefixtures("no_memory_kept")
SHAPE = (3, 1 << 16)


@pytest.fixture(scope="module")
def net() -> mlc.Model:
    """Three outputs of 256 KiB, and one of 12 bytes."""
    x, *rows, last = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in [("x", SHAPE), *((f"y{i}", (SHAPE[1],)) for i in range(3)), ("total", (3,))]
    )
    nodes = [helper.make_node("Split", ["x"], ["r0", "r1", "r2"], axis=0, num_outputs=3)]
    nodes += [helper.make_node("Squeeze", [f"r{i}"], [f"y{i}"]) for i in range(3)]
    nodes += [helper.make_node("ReduceMax", ["x", "axis"], ["total"], keepdims=0)]
    axis = helper.make_tensor("axis", TensorProto.INT64, [1], [1])
    graph = helper.make_graph(nodes, "rows", [x], [*rows, last], [axis])
    return mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))


@pytest.mark.parametrize("call", [lambda net, x: net(x), lambda net, x: tuple(net.run({"x": x}).values())])
def test_memory_is_used_again(net: mlc.Model, call: Callable[[Any, Any], tuple[np.ndarray, ...]]) -> None:
    addresses = []
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal(SHAPE, np.float32)
        results = call(net, x)
        assert np.array_equal(np.stack(results[:3]), x) and np.array_equal(results[3], x.max(1))
        addresses.append({each.ctypes.data for each in results[:3]})
        del results
    assert len(addresses[0]) == 3 and all(again == addresses[0] for again in addresses)


def test_what_is_held_stays(net: mlc.Model) -> None:
    first = np.random.default_rng(7).standard_normal(SHAPE, np.float32)
    *_, third, _ = net(first)
    part = third[5:50:3]
    del third, _
    for _ in range(3):
        net(first + 1)
    assert np.array_equal(part, first[2, 5:50:3])
