"""Kernels without elements: products, convolutions and quantized products of which an extent is 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ValueInfoProto, helper

import mlc
import mlc.numpy as mnp

SHAPES = [((3, 4), (4, 0)), ((0, 4), (4, 3)), ((3, 0), (0, 4)), ((5, 3, 4), (5, 4, 0)), ((0, 3, 4), (0, 4, 2))]
SHAPES += [((16, 64), (64, 0)), ((2, 0, 4), (2, 4, 0)), ((0, 0), (0, 0)), ((64, 0), (0, 64))]


@pytest.mark.parametrize("a, b", SHAPES)
def test_products(a: Any, b: Any) -> None:
    f = mlc.jit(lambda x, y: mnp.maximum(x @ y + 1, 0) * 2, wait=True)
    x, y = np.ones(a, np.float32), np.ones(b, np.float32)
    np.testing.assert_array_equal(f(x, y), np.maximum(x @ y + 1, 0) * 2, strict=True)


@pytest.mark.parametrize("a, b", [(0, 0), (0, 3), (3, 0)])
def test_outer_products(a: int, b: int) -> None:
    x, y = np.ones(a, np.float32), np.ones(b, np.float32)
    np.testing.assert_array_equal(mlc.jit(mnp.linalg.outer, wait=True)(x, y), np.outer(x, y), strict=True)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
@pytest.mark.parametrize("f", ["sum", "prod", "cumsum", "sort", "argsort", "exp"])
def test_other_functions(f: str, shape: tuple[int, ...]) -> None:
    x = np.ones(shape, np.float32)
    wanted = getattr(np, f)(x, axis=-1) if f != "exp" else np.exp(x)
    function = getattr(mnp, f)
    found = mlc.jit(lambda x: function(x, axis=-1) if f != "exp" else function(x), wait=True)(x)
    np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_unique_of_nothing(shape: tuple[int, ...]) -> None:
    np.testing.assert_array_equal(mnp.unique_values(np.ones(shape, np.float32)), np.unique(np.ones(shape, np.float32)))


F = np.float32
ONE, FIVE = np.int64([1]), np.int64([5])
GRAMS = {"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "mode": "TF", "ngram_counts": [0],
         "ngram_indexes": [0, 1], "pool_int64s": [2, 3]}  # fmt: skip
NODES: dict[str, tuple[list[np.ndarray], int, dict[str, Any]]] = {
    "DynamicQuantizeLinear": ([np.zeros((0, 3), F)], 3, {}),
    "Unique": ([np.zeros(0, F)], 4, {"sorted": 0}),
    "Slice": ([np.zeros((0, 3), F), 0 * ONE, FIVE, 0 * ONE], 1, {}),
    "TfIdfVectorizer": ([np.zeros(0, np.int32)], 1, GRAMS),
    "Pad": ([np.zeros((0, 3), F), np.int64([2, 0, 1, 0])], 1, {}),
}


@pytest.mark.parametrize("dim", [0, "n"])
@pytest.mark.parametrize("op", NODES)
def test_nodes_as_onnxruntime(op: str, dim: int | str) -> None:
    inputs, outputs, attributes = NODES[op]
    _agree(op, inputs, [f"y{n}" for n in range(outputs)], attributes, dim)


def test_dynamic_quantization_of_zeros() -> None:
    _agree("DynamicQuantizeLinear", [np.zeros((4, 3), F)], ["y", "s", "z"], {}, "n")


def _agree(op: str, inputs: list[np.ndarray], outputs: list[str], attributes: dict[str, Any], dim: int | str) -> None:
    names = [f"x{n}" for n in range(len(inputs))]
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(x.dtype), [dim, *x.shape[1:]] if n == 0 else x.shape
        )
        for n, (name, x) in enumerate(zip(names, inputs, strict=True))
    ]
    node = helper.make_node(op, names, outputs, **attributes)
    graph = helper.make_graph([node], "g", infos, [ValueInfoProto(name=y) for y in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    feed = dict(zip(names, inputs, strict=True))
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)
    for found, other in zip(mlc.compile(model).run(feed).values(), wanted, strict=True):
        np.testing.assert_array_equal(found, other, strict=True)
