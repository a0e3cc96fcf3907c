"""Operators on extents of 0, fixed or open, whose clamped indices read nothing because nothing is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper

import mlc
from mlc.errors import InputError

Shapes = dict[str, tuple[str, list[Any]]]


def model(op: str, inputs: Shapes, version: int = 20, **attributes: Any) -> ModelProto:
    """One node; ``inputs``: element type and shape by name."""
    kinds = {"f32": 1, "i64": 7, "i32": 6}
    infos = [helper.make_tensor_value_info(name, kinds[kind], shape) for name, (kind, shape) in inputs.items()]
    names = ["x", "", "s"] if op == "Resize" else list(inputs)
    node = helper.make_node(op, names, ["y"], **attributes)
    graph = helper.make_graph([node], "g", infos, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)


@pytest.mark.parametrize("rows", [0, "n"])
def test_logarithm_of_the_sum_over_axes_that_are_data(rows: Any) -> None:
    net = mlc.compile(model("ReduceLogSumExp", {"x": ("f32", [rows, 3]), "a": ("i64", [1])}))
    x = np.zeros((0, 3), np.float32)
    assert net(x, np.array([1])).shape == (0, 1)
    np.testing.assert_array_equal(net(x, np.array([0])), np.full((1, 3), -np.inf))


@pytest.mark.parametrize("rows", [0, "n"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize_by_scales_that_are_data(rows: Any, mode: str) -> None:
    net = mlc.compile(model("Resize", {"x": ("f32", [1, 1, rows, 4]), "s": ("f32", [4])}, mode=mode))
    found = net(np.zeros((1, 1, 0, 4), np.float32), np.array([1, 1, 2, 2], np.float32))
    assert found.shape == (1, 1, 0, 8)


@pytest.mark.parametrize("length", [0, "n"])
def test_ngrams_of_nothing(length: Any) -> None:
    pool = {"ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2], "pool_int64s": [2, 3, 5, 4], "mode": "TF"}
    kinds = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0}
    net = mlc.compile(model("TfIdfVectorizer", {"x": ("i32", [length])}, **pool, **kinds))
    np.testing.assert_array_equal(net(np.zeros(0, np.int32)), np.zeros(3))
    if length:
        np.testing.assert_array_equal(net(np.array([3, 5, 4], np.int32)), [0, 1, 1])


def test_no_classes_and_no_boxes() -> None:
    kinds: Shapes = {"b": ("f32", [1, "n", 4]), "s": ("f32", [1, 0, "n"]), "m": ("i64", [1])}
    net = mlc.compile(model("NonMaxSuppression", kinds, version=11))
    assert net(np.zeros((1, 5, 4), np.float32), np.zeros((1, 0, 5), np.float32), np.array([3])).shape == (0, 3)


def test_an_update_of_no_rows_changes_nothing() -> None:
    kinds: Shapes = {"c": ("f32", [2, 4, 5]), "u": ("f32", [2, 0, 5]), "at": ("i64", [2])}
    net = mlc.compile(model("TensorScatter", kinds, version=24))
    cache = np.arange(40, dtype=np.float32).reshape(2, 4, 5)
    np.testing.assert_array_equal(net(cache, cache[:, :0], np.array([1, 4])), cache)


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_an_update_of_rows_that_may_be_none(mode: str) -> None:
    kinds: Shapes = {"c": ("f32", [2, "m", 5]), "u": ("f32", [2, "n", 5]), "at": ("i64", [2])}
    net = mlc.compile(model("TensorScatter", kinds, version=24, mode=mode))
    cache, at = np.arange(40, dtype=np.float32).reshape(2, 4, 5), np.array([1, 2])
    for rows in (0, 1, 2):
        wanted = cache.copy()
        for b in range(2):
            wanted[b, at[b] : at[b] + rows] = -cache[b, :rows]
        np.testing.assert_array_equal(net(cache, -cache[:, :rows], at), wanted)
    assert net(cache[:, :0], cache[:, :0], np.array([0, 0])).shape == (2, 0, 5)


def test_refusals() -> None:
    kinds: Shapes = {"b": ("f32", [1, 6, 4]), "s": ("f32", [1, 2, 6]), "m": ("i64", [0])}
    with pytest.raises(InputError, match="a limit .*; each is one number"):
        mlc.compile(model("NonMaxSuppression", kinds, version=11))
    with pytest.raises(InputError, match="computes nothing: its outputs are empty sequences"):
        mlc.compile(model("SplitToSequence", {"x": ("f32", [0, 4])}))
    kinds = {"x": ("f32", [1, 128, 1]), "step": ("i64", []), "w": ("f32", [0])}
    with pytest.raises(InputError, match="frames of length 0"):
        mlc.compile(model("STFT", kinds))
