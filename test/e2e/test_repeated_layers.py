"""Layers that repeat each other with other extents and constants, whose kernels share a body: against float64."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import mlc
from mlc.api import make_options
from mlc.driver.compile import lower_source
from mlc.driver.onnx_source import OnnxSource


def model(widths: list[int], slopes: list[float], rows: str) -> onnx.ModelProto:
    """Products by square matrices of these widths, each of its own input, and a leaky unit with its own slope."""
    random = np.random.default_rng()
    nodes, stored, inputs, outputs = [], [], [], []
    for n, (width, slope) in enumerate(zip(widths, slopes, strict=True)):
        w = random.integers(-4, 5, (width, width)).astype(np.float32) / 4
        stored.append(numpy_helper.from_array(w, f"w{n}"))
        nodes.append(helper.make_node("MatMul", [f"x{n}", f"w{n}"], [f"p{n}"]))
        nodes.append(helper.make_node("LeakyRelu", [f"p{n}"], [f"y{n}"], alpha=slope))
        inputs.append(helper.make_tensor_value_info(f"x{n}", 1, [rows, width]))
        outputs.append(helper.make_tensor_value_info(f"y{n}", 1, [rows, width]))
    graph = helper.make_graph(nodes, "g", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(("widths", "name"), [([64, 128, 192], "n"), ([96, 96], "mlc_f0")])
def test_products_of_other_widths(widths: list[int], name: str) -> None:
    slopes = [0.25, 0.5, 0.125][: len(widths)]
    made = model(widths, slopes, name)
    lowered = lower_source(OnnxSource.of(made), make_options("x86-64-v3", tuned=False))
    text = "".join(source for name, source in lowered.sources.items() if name.startswith("kernels"))
    assert text.count("static __attribute__((noinline))") == 1
    random = np.random.default_rng()
    with mlc.compile(made, threads=2) as net:
        for rows in (1, 7, 40):
            x = [random.integers(-4, 5, (rows, width)).astype(np.float32) for width in widths]
            found = net.run({f"x{n}": each for n, each in enumerate(x)})
            for n, (each, slope) in enumerate(zip(x, slopes, strict=True)):
                p = each.astype(np.float64) @ numpy_helper.to_array(made.graph.initializer[n])
                np.testing.assert_array_equal(found[f"y{n}"], np.where(p < 0, slope * p, p))
