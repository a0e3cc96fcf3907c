"""Functions of a model, function bodies of ONNX, control flow, and the ONNX backend interface."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from graphs import assert_like_onnxruntime, graph, node, op_names
from onnx import AttributeProto, TensorProto, helper

from mlc.dialects.graph import source_nodes
from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import InputError
from mlc.frontends.onnx import UnsupportedError, import_model
from mlc.frontends.onnx.backend import MlcBackend, MlcRep, with_constants

RANDOM = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def with_function(recursive: bool = False) -> onnx.ModelProto:
    """y = leaky(leaky(x, 0.3), default 0.1) by a function of the model."""
    inner = helper.make_node("LeakyRelu", ["a"], ["b"])
    inner.attribute.append(AttributeProto(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="slope"))
    body = (
        [inner, helper.make_node("Twice", ["b"], ["c"], domain="own")] if recursive else [inner, node("Neg", "b", "c")]
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    default = [helper.make_attribute("slope", 0.1)]
    function = helper.make_function("own", "Twice", ["a"], ["c"], body, opsets, [], default)
    calls = [
        helper.make_node("Twice", ["x"], ["m"], domain="own", slope=0.3, name="first"),
        helper.make_node("Twice", ["m"], ["y"], domain="own", name="second"),
    ]
    model = graph(calls, {"x": [3, 4]}, ["y"])
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("own", 1))
    return model


def test_a_function_of_the_model() -> None:
    imported = import_model(with_function())
    operations = [op for op in imported.module.walk() if source_nodes(op)]
    assert {source_nodes(op) for op in operations} == {("first",), ("second",)}
    assert "0.3" in str(imported.module) and "0.1" in str(imported.module)


def test_a_function_that_calls_itself() -> None:
    with pytest.raises(UnsupportedError, match="calls itself"):
        import_model(with_function(recursive=True))


def test_the_body_of_an_onnx_function() -> None:
    imported = import_model(
        graph([node("AffineGrid", "t size", "y")], {"t": [2, 2, 3]}, ["y"], {"size": np.array([2, 1, 3, 4])}, 20)
    )
    assert imported.module is not None
    labels = {"labels": TensorProto.INT64}
    nodes = [node("SoftmaxCrossEntropyLoss", "x labels", "y", reduction="mean")]
    model = graph(nodes, {"x": [5, 4], "labels": [5]}, ["y"], types=labels)
    assert_like_onnxruntime(model, {"x": normal(5, 4), "labels": RANDOM.integers(0, 4, 5)})


def branch(name: str, op: str) -> onnx.GraphProto:
    return helper.make_graph([node(op, "x", name)], name, [], [onnx.ValueInfoProto(name=name)])


def test_a_branch_on_data_selects() -> None:
    nodes = [
        node("ReduceMax", "x", "top", keepdims=0),
        node("Greater", "top one", "big"),
        node("If", "big", "y", then_branch=branch("t", "Neg"), else_branch=branch("e", "Exp")),
    ]
    model = graph(nodes, {"x": [2, 3]}, ["y"], {"one": np.float32(1)})
    imported = import_model(model)
    from mlc.dialects.semantics.interpreter import interpret

    for x in (np.float32([[0, 2, 0]] * 2), np.float32([[0, 0.5, -1]] * 2)):
        y = interpret(imported.module, imported.weights, {"x": x})["y"]
        np.testing.assert_allclose(y, -x if x.max() > 1 else np.exp(x), rtol=1e-6)


def test_a_branch_on_a_shape_is_taken_at_import() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("ReduceSum", "s", "total", keepdims=0),
        node("Greater", "total five", "big"),
        node("If", "big", "y", then_branch=branch("t", "Neg"), else_branch=branch("e", "Exp")),
    ]
    for columns, expected in ((4, "-"), (3, "exp")):
        imported = import_model(graph(nodes, {"x": [2, columns]}, ["y"], {"five": np.array(5)}))
        assert op_names(imported) == ["map"]
        assert ("exp" in str(imported.module)) == (expected == "exp")


def body() -> onnx.GraphProto:
    """state *= 2, and the state before each step."""
    types = [("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("s", TensorProto.FLOAT, [3])]
    inputs = [helper.make_tensor_value_info(*t) for t in types]
    outputs = [onnx.ValueInfoProto(name=n) for n in ("go2", "s2", "before")]
    nodes = [node("Identity", "go", "go2"), node("Add", "s s", "s2"), node("Identity", "s", "before")]
    return helper.make_graph(nodes, "body", inputs, outputs)


def test_a_loop_of_known_length() -> None:
    from mlc.dialects.semantics.interpreter import interpret

    model = graph(
        [node("Loop", "count yes x", "y ys", body=body())],
        {"x": [3]},
        ["y", "ys"],
        {"count": np.array(4), "yes": np.array(True)},
    )
    imported = import_model(model)
    x = normal(3)
    got = interpret(imported.module, imported.weights, {"x": x})
    np.testing.assert_array_equal(got["y"], x * 16)
    np.testing.assert_array_equal(got["ys"], np.stack([x * 2**n for n in range(4)]))


def test_the_backend_interface() -> None:
    x, y = normal(2, 3), normal(3)
    (z,) = MlcBackend.run_node(node("Add", "x y", "z"), [x, y])
    np.testing.assert_allclose(z, x + y, rtol=1e-6)
    net = MlcBackend.prepare(graph([node("Exp", "x", "y")], {"x": ["rows", 3]}, ["y"]))
    assert isinstance(net, MlcRep)
    np.testing.assert_allclose(net.run([x]).y, np.exp(x), rtol=1e-5)  # type: ignore[attr-defined]
    np.testing.assert_allclose(net.run({"x": x})[0], np.exp(x), rtol=1e-5)
    assert MlcBackend.supports_device("CPU") and not MlcBackend.supports_device("CUDA:0")


def test_the_backend_specialises_on_what_a_structure_needs() -> None:
    nodes = [node("Neg", "x", "z"), node("SequenceConstruct", "x z", "s"), node("SequenceAt", "s at", "y")]
    model = graph(nodes, {"x": [2, 3], "at": []}, ["y"], types={"at": TensorProto.INT64})
    net, x = MlcBackend.prepare(model), normal(2, 3)
    for at in (1, 0, 1):
        np.testing.assert_array_equal(net.run([x, np.array(at)])[0], (x, -x)[at])
    assert len(net.specialised) == 2
    assert [i.name for i in with_constants(model, {"at": np.array(1)}).graph.input] == ["x"]


def test_the_backend_needs_no_special_model_for_a_shape() -> None:
    model = graph([node("Reshape", "x to", "y")], {"x": [2, 3], "to": [2]}, ["y"], types={"to": TensorProto.INT64})
    net, x = MlcBackend.prepare(model), normal(2, 3)
    for shape in ((3, 2), (6, 1), (3, 2)):
        np.testing.assert_array_equal(net.run([x, np.array(shape)])[0], x.reshape(shape))
    assert not net.specialised


def test_functions_that_unfold_to_millions_of_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlc.frontends.onnx.importer.MAX_NODES", 1000)
    opsets, make = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)], helper.make_node
    functions = [helper.make_function("own", "F0", ["a"], ["b"], [make("Neg", ["a"], ["b"])], opsets)]
    for n in range(1, 24):
        calls = [make(f"F{n - 1}", [x], [y], domain="own") for x, y in (("a", "t"), ("t", "b"))]
        functions.append(helper.make_function("own", f"F{n}", ["a"], ["b"], calls, opsets))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    proto = helper.make_graph([make("F23", ["x"], ["y"], "top", domain="own")], "g", [x], [y])
    model = helper.make_model(proto, opset_imports=opsets, functions=functions, ir_version=9)
    with pytest.raises(InputError, match=r"more than 1000 nodes with those of its functions.*'top/.*Call fewer"):
        import_model(model)


FLEX = """<ir_version: 10, opset_import: ["" : 26, "ai.onnx.preview" : 1]>
g (float[1,2,3,4] q, float[1,2,3,4] k, float[1,2,3,4] v) => (float[1,2,3,4] y) {
  y = ai.onnx.preview.FlexAttention (q, k, v) <score_mod: graph = scored (float[B,H,L,S] scores) => (float[B,H,L,S] out)
    <float bias = {0.5}>
    {
      large = Greater (scores, bias)
      halves = Mul (scores, bias)
      zero = Sub (scores, scores)
      out = Where (large, halves, zero)
    }>
}"""


def test_names_in_graphs_need_not_be_those_of_onnx_text() -> None:
    """ONNX makes the body of FlexAttention as text; exporters name values `score_mod.bias` and `/layers.0/Mul`."""
    given = onnx.parser.parse_model(FLEX)
    named = onnx.compose.add_prefix(given, "/layers.0/")
    q, k, v = (np.random.default_rng().normal(size=(1, 2, 3, 4)).astype(np.float32) for _ in range(3))
    scores = q @ k.mT / 2
    scores = np.where(scores > 0.5, scores / 2, 0)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    for model, prefix in ((given, ""), (named, "/layers.0/")):
        imported = import_model(model)
        feeds = {f"{prefix}{name}": array for name, array in zip("qkv", (q, k, v), strict=True)}
        found = interpret(imported.module, imported.weights, feeds)
        np.testing.assert_allclose(found[f"{prefix}y"], weights @ v, rtol=1e-5, atol=1e-6)
