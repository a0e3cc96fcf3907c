"""Nodes in any order: onnxruntime takes such graphs too, though not such branches."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, helper, parser

import mlc
from mlc.errors import InputError
from mlc.frontends.onnx.reading.ordering import in_order

MODEL = """
<ir_version: 9, opset_import: ["" : 18]>
g (float[n, 3] x, bool b) => (float[n, 3] y) {
    y = Sub (k, t)
    k = If (b) <
        then_branch = h () => (float[n, 3] p) { p = Mul (q, t)  q = Exp (s) },
        else_branch = h () => (float[n, 3] p) { p = Neg (r)  r = Mul (x, s) }
    >
    t = Tanh (s)
    s = Add (x, x)
}
"""


def _model() -> ModelProto:
    return parser.parse_model(MODEL)


@pytest.mark.parametrize("branch", [True, False])
def test_nodes_may_be_in_any_order(branch: bool) -> None:
    model = _model()
    before = model.SerializeToString()
    inputs = {"x": np.random.default_rng().normal(size=(2, 3)).astype(np.float32), "b": np.array(branch)}
    with mlc.compile(model) as net:
        found = net.run(inputs)["y"]
    x = inputs["x"].astype(np.float64)
    k = np.tanh(2 * x) * np.exp(2 * x) if branch else -2 * x * x
    np.testing.assert_allclose(found, k - np.tanh(2 * x), rtol=1e-5, atol=1e-6)
    assert model.SerializeToString() == before, "the caller's model is not touched"


def test_a_node_moves_no_further_than_it_must() -> None:
    names = [node.output[0] for node in in_order(_model()).graph.node]
    assert names == ["s", "t", "k", "y"]
    bodies = in_order(_model()).graph.node[2].attribute
    assert [[node.output[0] for node in body.g.node] for body in bodies] == [["q", "p"], ["r", "p"]]


def test_functions_are_sorted_too() -> None:
    model = parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18, "own" : 1]>
        g (float[3] x) => (float[3] y) { y = own.f (x) }
        <domain: "own", opset_import: ["" : 18]>
        f (a) => (c) { c = Neg (b)  b = Exp (a) }
    """)
    assert [node.op_type for node in in_order(model).functions[0].node] == ["Exp", "Neg"]


def test_a_model_in_order_is_the_same_object() -> None:
    model = in_order(_model())
    assert in_order(model) is model


def test_a_cycle_is_named() -> None:
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])]
    value = [helper.make_tensor_value_info(name, 1, [3]) for name in "xb"]
    model = helper.make_model(helper.make_graph(nodes, "g", value[:1], value[1:]))
    with pytest.raises(InputError, match="'b' is used before it is computed: the nodes form a cycle"):
        mlc.compile(model)
