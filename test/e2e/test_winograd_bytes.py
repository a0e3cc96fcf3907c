"""3x3 convolutions of bytes by Winograd's tiles of i16, compiled for AVX2: exactly NumPy's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import mlc
from mlc import target as targets
from mlc.driver.lower import lower
from mlc.frontends.onnx import import_model
from mlc.options import Options

AVX2 = "znver3"
SIZES = [  # images, channels, filters, height, width: by rows of tiles, all tiles at once, and tiles that are cut
    (1, 16, 16, 24, 24),
    (2, 32, 24, 9, 7),
    (1, 72, 64, 5, 11),
]
Array = np.ndarray[Any, Any]


def model(w: Array, n: int, height: int, width: int, zero: int) -> ModelProto:
    filters, channels = w.shape[:2]
    nodes = [
        helper.make_node("ConvInteger", ["x", "w", "z"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Sub", ["b", "c"], ["y"]),
    ]
    constants = {"w": w, "z": np.uint8(zero), "b": np.arange(filters, dtype=np.int32).reshape(-1, 1, 1)}
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [n, channels, height, width])
    y = helper.make_tensor_value_info("y", TensorProto.INT32, [n, filters, height, width])
    initializers = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def products(model: ModelProto, target: str) -> list[str]:
    imported = import_model(model)
    lower(imported.module, imported.weights, Options(targets.get(target)), until="layout")
    return [name for name in ("dot2_i16", "dot4") if f'product = "{name}(x0, x1)"' in str(imported.module)]


@pytest.mark.skipif(not {"avx2", "fma"} <= set(targets.get("cpu").features), reason="this CPU has no AVX2")
@pytest.mark.parametrize("size", SIZES)
def test_equal_integers(size: tuple[int, ...]) -> None:
    random = np.random.default_rng()
    n, channels, filters, height, width = size
    w = random.choice(np.array([-128, -127, 127, 0, 5], np.int8), (filters, channels, 3, 3))
    w[0], w[1] = 127, -128  # the largest and the least sum
    x = random.choice(np.array([255, 0, 254, 3], np.uint8), (n, channels, height, width))
    x[0, :, :3, :3] = 255
    net = model(w, n, height, width, 9)
    assert products(net, AVX2) == ["dot2_i16"]
    (y,) = mlc.compile(net, target=AVX2, threads=1).run({"x": x}).values()
    image = np.pad(x.astype(np.int64) - 9, ((0, 0), (0, 0), (1, 1), (1, 1)))
    taps = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
    expected = np.arange(filters).reshape(-1, 1, 1) - np.einsum("nchwij,fcij->nfhw", taps, w.astype(np.int64))
    np.testing.assert_array_equal(y, expected)


def test_sums_that_could_overflow_stay() -> None:
    """4 times the sum of 1,828 channels does not fit in 31 bits; the sum of more than 7,000 is beyond i32 itself."""
    for channels, name in ((1824, "dot2_i16"), (1832, "dot4")):
        assert products(model(np.ones((8, channels, 3, 3), np.int8), 1, 8, 8, 0), AVX2) == [name]


@pytest.mark.parametrize("target", ["x86-64-v4:avx512vnni", "x86-64-v3:avxvnni", "x86-64"])
def test_other_targets_multiply_bytes(target: str) -> None:
    assert products(model(np.ones((32, 32, 3, 3), np.int8), 1, 16, 16, 0), target) == ["dot4"]
