"""Sparse attention of sequences of several lengths, which onnxruntime does not compute right: each as it is alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper
from single import MS, ways

Array = np.ndarray[Any, Any]
HEADS, SIZE, MOST = 2, 8, 64
STARTS, COLUMNS = np.array([[0, 1, 2, 4, 6]], "i4"), np.array([[0, 1, 0, 2, 1, 3]], "i4")


def _model(batch: int, rows: int) -> onnx.ModelProto:
    shapes: dict[str, list[int]] = {n: [batch, rows, HEADS * SIZE] for n in "qkv"}
    shapes |= {n: [batch, HEADS, MOST, SIZE] for n in ("pk", "pv")}
    infos = [helper.make_tensor_value_info(n, 1, s) for n, s in shapes.items()]
    infos += [helper.make_tensor_value_info(n, 6, s) for n, s in (("total", [1]), ("lengths", [batch]))]
    tables = [onnx.numpy_helper.from_array(x, n) for n, x in (("starts", STARTS), ("columns", COLUMNS))]
    names = ["q", "k", "v", "pk", "pv", "starts", "columns", "total", "lengths"]
    how = {"num_heads": HEADS, "kv_num_heads": HEADS, "sparse_block_size": 16}
    node = helper.make_node("SparseAttention", names, ["y", "nk", "nv"], domain=MS, **how)
    graph = helper.make_graph([node], "sparse", infos, [onnx.ValueInfoProto(name=n) for n in ("y", "nk", "nv")], tables)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22), helper.make_opsetid(MS, 1)])


def test_sequences_of_several_lengths(rng: np.random.Generator) -> None:
    lengths, rows = np.array([40, 9, 64], "i4"), 2
    feeds: dict[str, Array] = {n: rng.standard_normal((3, rows, HEADS * SIZE)).astype("f4") for n in "qkv"}
    feeds |= {n: rng.standard_normal((3, HEADS, MOST, SIZE)).astype("f4") for n in ("pk", "pv")}
    together = ways(_model(3, rows), feeds | {"total": np.array([64], "i4"), "lengths": lengths}, compiled=False)[0]
    for n, length in enumerate(lengths):
        own = {name: x[n : n + 1] for name, x in feeds.items()} | {
            "total": lengths[n : n + 1],
            "lengths": lengths[n : n + 1],
        }
        alone = ways(_model(1, rows), own, compiled=False)[0]
        for name, x in alone.items():
            np.testing.assert_allclose(together[name][n], x[0], rtol=1e-5, atol=1e-5)
        assert (
            together["nk"][n, :, length - rows : length] == feeds["k"][n].reshape(rows, HEADS, SIZE).swapaxes(0, 1)
        ).all()
