"""Operators of a thousand operands, each of its own shape or order, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import mlc

COUNT = 1000


def compiled(op: str, shapes: list[tuple[int, ...]], result: tuple[int, ...], **attributes: int) -> mlc.Model:
    names = [f"x{n}" for n in range(len(shapes))]
    info = helper.make_tensor_value_info
    inputs = [info(name, TensorProto.FLOAT, shape) for name, shape in zip(names, shapes, strict=True)]
    node = helper.make_node(op, names, ["y"], **attributes)
    graph = helper.make_graph([node], "wide", inputs, [info("y", TensorProto.FLOAT, result)])
    return mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def test_concat() -> None:
    random = np.random.default_rng()
    widths = [1 + (n % 5 == 0) for n in range(COUNT)]
    arrays = [random.standard_normal((2, width)).astype(np.float32) for width in widths]
    net = compiled("Concat", [a.shape for a in arrays], (2, sum(widths)), axis=1)
    np.testing.assert_array_equal(net(*arrays), np.concatenate(arrays, 1))


@pytest.mark.parametrize(("op", "function"), [("Sum", np.sum), ("Max", np.max), ("Min", np.min)])
def test_elementwise(op: str, function) -> None:  # type: ignore[no-untyped-def]
    random = np.random.default_rng()
    arrays = [random.standard_normal((1 + 2 * (n % 3 == 0), 5)).astype(np.float32) for n in range(COUNT)]
    wanted = function(np.stack([np.broadcast_to(a, (3, 5)) for a in arrays]).astype(np.float64), axis=0)
    found = compiled(op, [a.shape for a in arrays], (3, 5))(*arrays)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
