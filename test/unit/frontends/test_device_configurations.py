"""Shardings that an ONNX model says itself: sharding_spec of nodes, beside meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc import divided
from mlc.errors import InputError
from mlc.frontends.onnx.device_configurations import shardings_of

W = np.arange(32, dtype=np.float32).reshape(4, 8)


def spec(tensor: str, devices: list[int], dims: dict[int, int], groups: dict[int, list[int]] | None = None) -> Any:
    made = onnx.ShardingSpecProto(tensor_name=tensor, device=devices)
    for axis, shards in dims.items():
        made.sharded_dim.add(axis=axis).simple_sharding.add(num_shards=shards)
    for key, value in (groups or {}).items():
        made.index_to_device_group_map.add(key=key, value=value)
    return made


def model(*specs: Any, devices: int = 4, stage: int | None = None, second: Any = None) -> bytes:
    """y = relu(x @ w), with the specs on the product, and one on the second node."""
    product = helper.make_node("MatMul", ["x", "w"], ["h"], name="product")
    nodes = [product, helper.make_node("Relu", ["h"], ["y"], name="act")]
    made = nodes[0].device_configurations.add(configuration_id="four", sharding_spec=specs)
    if stage is not None:
        made.pipeline_stage = stage
    if second is not None:
        nodes[1].device_configurations.add(configuration_id="four", sharding_spec=[second])
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", d]) for n, d in (("x", 4), ("y", 8))]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], [numpy_helper.from_array(W, "w")])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=11)
    proto.configuration.add(name="four", num_devices=devices)
    return proto.SerializeToString()


MESH = {"data": 2, "model": 2}


@pytest.mark.parametrize(
    "given, axes",
    [
        (spec("w", [0, 1, 2, 3], {1: 4}), ((), ("data", "model"))),
        (spec("w", [0, 2, 1, 3], {1: 4}), ((), ("model", "data"))),
        (spec("w", [0, 1, 2, 3], {0: 2, 1: 2}), (("data",), ("model",))),
        (spec("w", [0, 2, 1, 3], {0: 2, 1: 2}), (("model",), ("data",))),
        (spec("w", [-1, -2], {1: 2}, {-1: [0, 2], -2: [1, 3]}), ((), ("model",))),
        (spec("w", [-1, -2], {0: 2}, {-1: [0, 1], -2: [2, 3]}), (("data",),)),
        (spec("w", [0, 1, 2, 3], {}), ()),
    ],
)
def test_devices_are_ranks(given: Any, axes: object) -> None:
    assert shardings_of(model(given), MESH) == {"w": axes}


def test_the_model_is_divided_as_it_says() -> None:
    columns = spec("w", [-1, -2], {1: 2}, {-1: [0, 2], -2: [1, 3]})
    rows = spec("x", [-1, -2], {0: 2}, {-1: [0, 1], -2: [2, 3]})
    source = divided.of(model(columns, rows), mlc.Mesh(**MESH))
    assert source.shardings == {"w": mlc.P(None, "model"), "x": mlc.P("data")}
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_allclose(source.simulate({"x": x})["y"], np.maximum(x @ W, 0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "made, message",
    [
        (model(spec("w", [0, 3, 1, 2], {1: 4})), "'w' is in 4 shards on devices.*product"),
        (model(spec("w", [0, 1, 2], {1: 3})), "product.*3 shards|3 shards.*product"),
        (model(spec("z", [0, 1, 2, 3], {1: 4})), "divides 'z', which it neither reads nor makes"),
        (model(spec("w", [0, 1, 2, 3], {-1: 4})), r"divides axes \[-1\] of 'w'"),
        (model(spec("w", [0, 1, 2, 3], {1: 4}), devices=8), "no configuration of 4 devices.*'four' of 8 devices"),
        (model(spec("w", [0, 1, 2, 3], {1: 4}), stage=1), "pipeline stage 1"),
        (
            model(spec("h", [0, 1, 2, 3], {1: 4}), second=spec("h", [0, 1, 2, 3], {0: 4})),
            "divides 'h' as data.model, and node 'product' as -,data.model",
        ),
    ],
)
def test_contradictions_name_node_and_tensor(made: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        shardings_of(made, MESH)


def test_a_given_sharding_that_contradicts_the_model_is_refused() -> None:
    with pytest.raises(InputError, match="'w' is divided as P.'model'., and the model says P.None, .*"):
        divided.of(model(spec("w", [0, 1, 2, 3], {1: 4})), mlc.Mesh(**MESH), {"w": mlc.P("model")})
