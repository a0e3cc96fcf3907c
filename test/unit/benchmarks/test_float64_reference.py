"""The reference in double precision."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper, save

from benchmarks.float64 import float64


def test_sums_in_double_precision(tmp_path):
    """2^24 + 1 - 2^24, which f32 makes 0; the cast to f32 in the model is one to f64."""
    big = np.float32(2**24)
    nodes = [
        helper.make_node("Cast", ["i"], ["f"], to=1),
        helper.make_node("Add", ["f", "big"], ["sum"]),
        helper.make_node("Sub", ["sum", "x"], ["y"]),
    ]
    borders = [helper.make_tensor_value_info(*v) for v in (("i", 7, [2]), ("x", 1, [2]), ("y", 1, [2]))]
    graph = helper.make_graph(nodes, "g", borders[:2], borders[2:], [numpy_helper.from_array(np.array([big]), "big")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    (y,) = float64(tmp_path / "m.onnx", 1)({"i": np.array([1, 3]), "x": np.full(2, big)}).values()
    assert y.dtype == np.float32 and y.tolist() == [1, 3]
