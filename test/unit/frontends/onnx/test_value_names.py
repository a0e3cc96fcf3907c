"""SSA values print under the names that the source has for them, and no generated code depends on these."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from graphs import graph, node
from hypothesis import given, strategies
from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.universe import Universe

from mlc.driver.lower import lower
from mlc.frontends.build.symbols import value_name
from mlc.frontends.onnx import import_model
from mlc.options import Options


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("conv1", "conv1"), ("conv_1", "conv1"), ("a_1_2", "a12"), ("layer.0/weight", "layer_0_weight"),
        ("1x1", "v1x1"), ("1", "v1"), ("_1", "v1"), ("12_3", "v123"), ("", "v"), ("größe", "gr__e"), ("_", "_"),
    ],
)  # fmt: skip
def test_a_name_becomes_an_identifier(text: str, name: str) -> None:
    assert value_name(text) == name


@given(strategies.text(alphabet="ab01_./ -", max_size=8))
def test_no_name_is_changed_by_the_ir(text: str) -> None:
    """xDSL takes a last ``_1`` off a hint; nothing may be left to take off, nor a name without letters."""
    name = value_name(text)
    assert name and SSAValue.extract_valid_name(name) == name


def model(*names: str) -> onnx.ModelProto:
    first, second, y = names
    nodes = [node("Conv", "x layer.0/weight", first), node("Relu", first, second), node("Conv", f"{second} w", y)]
    weights = {n: np.ones((4, 4, 3, 3), np.float32) for n in ("layer.0/weight", "w")}
    return graph(nodes, {"x": ["n", 4, 9, 9]}, [y], weights)


def test_inputs_weights_and_results_of_nodes_keep_their_names() -> None:
    text = str(import_model(model("conv1", "relu1", "y")).module)
    assert re.search(r"%layer_0_weight = graph\.weight", text)
    assert re.search(r"%conv1 = graph\.conv\(%x, %layer_0_weight\)", text)
    assert re.search(r"%relu1 = graph\.map .*\(%conv1\)", text)
    assert re.search(r"%y = graph\.conv\(%relu1, %w\)", text)


def test_equal_names_stay_apart_in_print() -> None:
    """``a.b`` and ``a/b`` are one identifier."""
    module = import_model(model("a.b", "a/b", "a_b")).module
    context = Context()
    for dialect, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(dialect, factory)
    again = Parser(context, str(module)).parse_module()
    assert module.is_structurally_equivalent(again)


def test_generated_code_does_not_depend_on_names() -> None:
    sources = []
    for names in (("conv1", "relu1", "y"), ("a", "b", "y")):
        imported = import_model(model(*names))
        imported.module.properties["sym_name"] = StringAttr("model")
        sources.append(lower(imported.module, imported.weights, Options()).sources)
    assert sources[0] == sources[1]
