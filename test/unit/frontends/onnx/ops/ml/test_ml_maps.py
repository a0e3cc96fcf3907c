"""Maps of ai.onnx.ml against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from single import ML, by_onnxruntime, close, single

import mlc
from mlc.frontends.onnx import UnsupportedError, import_model
from mlc.frontends.onnx.backend import prepare


@pytest.mark.parametrize("labels", [[3, 8, 5], ["a", "b", "c"]])
def test_zip_map(rng: np.random.Generator, labels: list[Any]) -> None:
    """As a sequence of maps by the backend, as two tensors from a compiled model."""
    x = rng.random((4, 3)).astype("f4")
    strings = isinstance(labels[0], str)
    how = {"classlabels_strings" if strings else "classlabels_int64s": labels}
    node = helper.make_node("ZipMap", ["x"], ["y"], domain=ML, **how)
    scores = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
    of_row = helper.make_map_type_proto(
        TensorProto.STRING if strings else TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    )
    result = helper.make_value_info("y", helper.make_sequence_type_proto(of_row))
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(ML, 1)]
    model = helper.make_model(helper.make_graph([node], "g", [scores], [result]), opset_imports=opsets, ir_version=10)
    assert prepare(model).run([x]) == (by_onnxruntime(model, {"x": x})[0],)
    results = mlc.compile(model).run({"x": x})
    assert results["y.keys"].tolist() == labels
    np.testing.assert_array_equal(results["y.values"], x)


def of_a_map(op: str, key: int, value: int, out: int, **attributes: Any) -> ModelProto:
    """A model of one node that takes a map from ``key`` to ``value``."""
    given = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))
    node = helper.make_node(op, ["x"], ["y"], domain=ML, **attributes)
    infos = [helper.make_value_info("x", given)], [helper.make_tensor_value_info("y", out, None)]
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(ML, 1)]
    return helper.make_model(helper.make_graph([node], "g", *infos), opset_imports=opsets, ir_version=10)


WHOLE, REAL, WIDE, WORD = TensorProto.INT64, TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.STRING


def test_dictionaries_as_vectors(rng: np.random.Generator) -> None:
    for keys, kind, name in (([9, -2, 5, 0], WHOLE, "int64"), (["a", "c", "b", "ü"], WORD, "string")):
        model = of_a_map("DictVectorizer", kind, REAL, REAL, **{f"{name}_vocabulary": keys})
        net = prepare(model)
        for count in (1, 3, 4):
            x = {keys[n]: float(rng.standard_normal()) for n in rng.permutation(4)[:count]}
            close(net.run([x])[0], by_onnxruntime(model, {"x": x})[0], 0)
        close(net.run([{}])[0], np.zeros((1, 4), "f4"), 0)


def test_dictionaries_that_onnxruntime_takes_from_no_python_object() -> None:
    def vector(key: int, value: int, given: Any, words: Any) -> Any:
        name = "string_vocabulary" if key == WORD else "int64_vocabulary"
        return prepare(of_a_map("DictVectorizer", key, value, value, **{name: words})).run([given])[0]

    close(vector(WORD, WIDE, {"q": 4.0, "c": 1e300}, ["a", "c"]), np.array([[0, 1e300]]), 0)
    close(vector(WORD, WHOLE, {"c": 1 << 60}, ["a", "c"]), np.array([[0, 1 << 60]]), 0)
    assert vector(WHOLE, WORD, {5: "x", -2: "yy"}, [9, -2, 5]).tolist() == [["", "yy", "x"]]


@pytest.mark.parametrize("form", ["DENSE", "SPARSE"])
def test_cast_maps(rng: np.random.Generator, form: str) -> None:
    for to, out in (("TO_FLOAT", REAL), ("TO_INT64", WHOLE)):
        model = of_a_map("CastMap", WHOLE, REAL, out, map_form=form, cast_to=to, max_map=7)
        net = prepare(model)
        for count in (1, 4, 9):
            x = {int(n): float(rng.normal(0, 9)) for n in rng.permutation(12)[:count]}
            close(net.run([x])[0], by_onnxruntime(model, {"x": x})[0], 0)


def test_cast_maps_of_strings() -> None:
    strings, made = {5: "3", 2: "-4.5", 1: "1e3"}, of_a_map("CastMap", WHOLE, WORD, REAL, map_form="SPARSE", max_map=4)
    close(prepare(made).run([strings])[0], np.array([[0, 1000, -4.5, 0]], "f4"), 0)
    made = of_a_map("CastMap", WHOLE, WORD, WORD, cast_to="TO_STRING")
    assert prepare(made).run([strings])[0].tolist() == [["1e3", "-4.5", "3"]]


def test_a_map_is_two_tensors() -> None:
    net = mlc.compile(of_a_map("DictVectorizer", WORD, REAL, REAL, string_vocabulary=["a", "b"]))
    feeds = {"x.keys": np.array(["b"], dtype=object), "x.values": np.array([2.5], "f4")}
    close(net.run(feeds)["y"], np.array([[0, 2.5]], "f4"), 0)


def test_refused_maps() -> None:
    with pytest.raises(UnsupportedError, match="DictVectorizer.*input 0 is no map"):
        import_model(single("DictVectorizer", {"x": np.ones(3, "f4")}, domain=ML, int64_vocabulary=[1, 2, 3]))
    with pytest.raises(UnsupportedError, match="DictVectorizer.*for a vocabulary of"):
        import_model(of_a_map("DictVectorizer", WORD, REAL, REAL, int64_vocabulary=[1, 2, 3]))
    with pytest.raises(UnsupportedError, match="CastMap.*map_form 'ROUND'"):
        import_model(of_a_map("CastMap", WHOLE, REAL, REAL, map_form="ROUND"))
    with pytest.raises(UnsupportedError, match="Abs.*a map, or a sequence of maps"):
        model = of_a_map("CastMap", WHOLE, REAL, REAL)
        model.graph.node[0].CopyFrom(helper.make_node("Abs", ["x"], ["y"]))
        import_model(model)
