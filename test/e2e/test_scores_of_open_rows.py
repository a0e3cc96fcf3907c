"""Scores of queries and keys that lie along the sum, as in caches, with open numbers of both: against NumPy in
float64."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import mlc
from mlc import target as targets

HEADS = 4


def scores(size: int) -> ModelProto:
    product = helper.make_node("Einsum", ["q", "k"], ["p"], equation="bnsh,bnth->bnst")
    masked = helper.make_node("Add", ["p", "m"], ["y"])
    heads = ["b", HEADS]
    shapes = {"q": [*heads, "s", size], "k": [*heads, "t", size], "m": ["b", 1, "s", "t"], "y": [*heads, "s", "t"]}
    *given, made = (helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in shapes.items())
    graph = helper.make_graph([product, masked], "scores", given, [made])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize(("target", "size"), [("cpu", 64), ("cpu", 72), ("x86-64-v3", 16)])
def test_any_number_of_queries_and_keys(target: str, size: int) -> None:
    """A tile has a key for each lane; the keys of the last one may be fewer."""
    random, compiled = np.random.default_rng(), mlc.compile(scores(size), target=target, threads=2)
    for batch, queries, keys in ((1, 1, 1), (1, 1, 5), (2, 3, 16), (1, 20, 17), (2, 9, 33), (1, 1, 47)):
        shapes = ((batch, HEADS, queries, size), (batch, HEADS, keys, size), (batch, 1, queries, keys))
        q, k, m = (random.standard_normal(shape).astype("f4") for shape in shapes)
        wanted = q.astype("f8") @ k.swapaxes(2, 3) + m
        found = compiled.run({"q": q, "k": k, "m": m})["y"]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())
    lanes = 16 if size > 16 else 8
    if target == "cpu" and targets.get("cpu").lanes < lanes:
        return  # vectors of 8 take the elements of a key as lanes where these are many
    assert f"/{lanes}v" in compiled.profile(q=q, k=k, m=m)[0][0]["schedule"].split("|")[1], "keys are lanes of a tile"
