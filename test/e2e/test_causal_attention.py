"""Attention with constant masks, whose masked blocks of keys are not read, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc

LOWEST = float(np.finfo(np.float32).min)
MASKS = {  # how the mask is written, its fill, the first and last diagonals of keys
    "causal": ("where", LOWEST, None, 0),
    "added": ("add", -np.inf, None, 0),
    "window": ("add", -np.inf, -70, 0),
    "shifted": ("where", -np.inf, None, 37),
    "operator": ("operator", -np.inf, None, 0),
}
HEADS, SIZE = 2, 32


def visible(rows: int, keys: int, first: int | None, last: int) -> np.ndarray:
    diagonal = np.arange(keys) - np.arange(rows)[:, None]
    return (diagonal <= last) & (True if first is None else diagonal >= first)


def attention(form: str, fill: float, mask: np.ndarray) -> onnx.ModelProto:
    rows, keys = mask.shape
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, HEADS, n, SIZE])
        for name, n in (("q", rows), ("k", keys), ("v", keys), ("y", rows))
    ]
    if form == "operator":
        nodes = [helper.make_node("Attention", ["q", "k", "v"], ["y"], is_causal=1)]
        return model_of(nodes, values, [])
    constants = {"scale": np.float32(SIZE**-0.5), "fill": np.float32(fill)}
    constants["mask"] = mask if form == "where" else np.where(mask, 0, fill).astype(np.float32)
    inputs = ["mask", "scaled", "fill"] if form == "where" else ["scaled", "mask"]
    nodes = [
        helper.make_node("Transpose", ["k"], ["columns"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "columns"], ["products"]),
        helper.make_node("Mul", ["products", "scale"], ["scaled"]),
        helper.make_node(form.capitalize(), inputs, ["masked"]),
        helper.make_node("Softmax", ["masked"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["y"]),
    ]
    return model_of(nodes, values, [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])


def model_of(nodes: list[Any], values: list[Any], constants: list[Any]) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "attention", values[:3], values[3:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)


def arguments(rows: int, keys: int) -> list[np.ndarray]:
    normal = np.random.default_rng().standard_normal
    return [normal((1, HEADS, n, SIZE)).astype(np.float32) for n in (rows, keys, keys)]


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.where(mask, q @ k.swapaxes(2, 3) / np.sqrt(SIZE), -np.inf)
    power = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(power / power.sum(-1, keepdims=True) @ v)


@pytest.mark.parametrize(("rows", "keys"), [(512, 512), (509, 547)], ids=str)
@pytest.mark.parametrize("name", MASKS)
def test_masked_blocks_are_not_read(name: str, rows: int, keys: int) -> None:
    form, fill, first, last = MASKS[name]
    mask = visible(rows, keys, first, last)
    args = arguments(rows, keys)
    net = mlc.compile(attention(form, fill, mask), threads=1)
    np.testing.assert_allclose(net(*args), reference(*args, mask), atol=2e-5)
    args[2][:, :, 400:] = np.nan  # 0 * NaN would be NaN
    assert np.isfinite(net(*args)[:, :, :128]).all()


def test_strict_numerics_read_all() -> None:
    mask = visible(512, 512, None, 0)
    args = arguments(512, 512)
    args[2][:, :, 400:] = np.nan
    net = mlc.compile(attention("add", -np.inf, mask), threads=1, numerics="strict")
    assert np.isnan(net(*args)).all()


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("form", ["where", "add"])
@pytest.mark.parametrize("n", [70, 256])
def test_masks_that_stay_are_compared_in_vectors(form: str, n: int, target: str) -> None:
    """-10000 excludes no key: bits are computed on every CPU, numbers where the caches do not hold them."""
    mask = visible(n, n, None, 3)
    net = mlc.compile(attention(form, -1e4, mask), target=f"{target}:l2=16K,l3=16K", threads=1)
    args = arguments(n, n)
    np.testing.assert_allclose(net(*args), reference(*args, mask), atol=2e-5)
    assert net.signature["weights"]["bytes"] == 0


def test_rows_without_keys_are_no_numbers() -> None:
    mask = visible(512, 512, None, -1)
    args = arguments(512, 512)
    result = np.asarray(mlc.compile(attention("add", -np.inf, mask), threads=1)(*args))
    assert np.isnan(result[:, :, 0]).all()
    np.testing.assert_allclose(result[:, :, 1:], reference(args[0][:, :, 1:], *args[1:], mask[1:]), atol=2e-5)


def test_layers_with_different_masks_have_kernels_of_their_own() -> None:
    """Local and global attention in turn, as in Gemma 2: no mask is read, and equal layers share a kernel."""
    masks = [visible(512, 512, first, 0) for first in (-70, None, -70)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, HEADS, 512, SIZE]) for name in "qkvy"]
    nodes = [helper.make_node("Transpose", ["k"], ["columns"], perm=[0, 1, 3, 2])]
    for n, name in enumerate(["q", "q1", "q2"]):
        nodes += [
            helper.make_node("MatMul", [name, "columns"], [f"products{n}"]),
            helper.make_node("Mul", [f"products{n}", "scale"], [f"scaled{n}"]),
            helper.make_node("Where", [f"mask{n}", f"scaled{n}", "fill"], [f"masked{n}"]),
            helper.make_node("Softmax", [f"masked{n}"], [f"weights{n}"], axis=-1),
            helper.make_node("MatMul", [f"weights{n}", "v"], [("q1", "q2", "y")[n]]),
        ]
    constants = {"scale": np.float32(SIZE**-0.5), "fill": np.float32(-np.inf)}
    constants |= {f"mask{n}": mask for n, mask in enumerate(masks)}
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    net = mlc.compile(model_of(nodes, infos, weights), threads=1)
    attentions = [k for k in net.signature["kernels"] if any("Softmax" in node for node in k["nodes"])]
    assert net.signature["weights"]["bytes"] == 0 and len({k["symbol"] for k in attentions}) == 2
    q, k, v = args = arguments(512, 512)
    for mask in masks:
        q = reference(q, k, v, mask)
    np.testing.assert_allclose(net(*args), q, atol=2e-5)
