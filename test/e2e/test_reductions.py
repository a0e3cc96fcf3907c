"""Sums over dimensions that are not the last, with elementwise operators after them, in one kernel."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
from onnx import TensorProto, helper

import mlc

MEAN_POOL = """<ir_version: 8, opset_import: ["" : 17]>
pool (float[batch,{steps},{width}] x, float[batch,1] n) => (float[batch,{width}] y) {{
  axes = Constant <value_ints = [1]> ()
  sum = ReduceSum <keepdims = 0> (x, axes)
  mean = Div (sum, n)
  square = Mul (mean, mean)
  norm = ReduceSum <keepdims = 1> (square, axes)
  root = Sqrt (norm)
  y = Div (mean, root)
}}"""


@pytest.mark.parametrize(("steps", "width"), [(128, 384), (7, 37), (1, 16)])
@pytest.mark.parametrize("batch", [1, 3])
def test_mean_over_steps_then_normalised(steps: int, width: int, batch: int) -> None:
    net = mlc.compile(onnx.parser.parse_model(MEAN_POOL.format(steps=steps, width=width)))
    random = np.random.default_rng()
    x, n = random.standard_normal((batch, steps, width), np.float32), random.uniform(1, 9, (batch, 1)).astype("f4")
    mean = x.sum(1, dtype=np.float64) / n
    np.testing.assert_allclose(net(x, n), mean / np.linalg.norm(mean, axis=1, keepdims=True), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("op", "neutral"), [("ReduceSum", 0), ("ReduceProd", 1), ("ReduceMax", -np.inf)])
@pytest.mark.parametrize("shape", [(1, 0), (3, 0), (0,), (1, 0, 1), (0, 16), (2, 0, 3)])
def test_of_no_elements(op: str, neutral: float, shape: tuple[int, ...]) -> None:
    dims, axis = ", ".join(map(str, shape)), shape.index(0)
    text = f"""<ir_version: 8, opset_import: ["" : 18]>
    none (float[{dims}] x) => (float[{", ".join("n" for _ in shape)}] y) {{
      axes = Constant <value_ints = [{axis}]> ()
      y = {op} (x, axes)
    }}"""
    result = mlc.compile(onnx.parser.parse_model(text))(np.zeros(shape, "f4"))
    np.testing.assert_array_equal(result, np.full([d or 1 for d in shape], neutral, "f4"))


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("shape", [(3, 6), (2, 37), (5, 1), (33,)])
def test_extremes_of_16_bits(op: str, shape: tuple[int, ...]) -> None:
    """bfloat16 lies in memory as integers, which are in another order where they are negative."""
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16))
    x = np.random.default_rng().standard_normal(shape, np.float32).astype(dtype)
    given = helper.make_tensor_value_info("x", TensorProto.BFLOAT16, shape)
    for axis in (0, -1):
        node = helper.make_node(op, ["x", "axis"], ["y"], keepdims=0)
        axes = onnx.numpy_helper.from_array(np.array([axis]), "axis")
        graph = helper.make_graph([node], "extremes", [given], [onnx.ValueInfoProto(name="y")], [axes])
        net = mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10))
        np.testing.assert_array_equal(net(x), (np.max if op == "ReduceMax" else np.min)(x, axis))


def test_of_nothing() -> None:
    """A maximum of no element is the least number there is, a sum is 0."""
    for op, wanted in (("ReduceMax", -(2**63)), ("ReduceSum", 0)):
        node = helper.make_node(op, ["x"], ["y"], keepdims=0)
        given = helper.make_tensor_value_info("x", TensorProto.INT64, [0])
        graph = helper.make_graph([node], "nothing", [given], [onnx.ValueInfoProto(name="y")])
        net = mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10))
        assert int(net(np.zeros(0, np.int64))) == wanted


@pytest.mark.parametrize("rows", ["30000", "n"])
def test_long_sums_have_small_errors(rows: str) -> None:
    """Blocks of the terms have sums of their own; one after another, so many terms have an error of 5e-6."""
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    sums (float[{rows},48] x) => (float[48] y) {{
      axes = Constant <value_ints = [0]> ()
      y = ReduceSum <keepdims = 0> (x, axes)
    }}"""
    x = np.random.default_rng().uniform(1, 2, (30000, 48)).astype("f4")
    np.testing.assert_allclose(mlc.compile(onnx.parser.parse_model(text))(x), x.sum(0, dtype="f8"), rtol=2e-6)
