"""Names of dimensions are the user's: words of isl, of C and of Python, macros, and hostile text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import mlc

ISL = "true exists mod floor ceil infinity infty rat implies floord ceild TRUE Exists and or not min max nan"
C = "int float case typeof nullptr EOF INT64_MAX PRId64 errno unix mlc_gemm __x offset host shape end main"
IR = "n i d0 size0 step1 S0 T0 t_i buf tid p0 if None_ n_ n__"
HOSTILE = ["a b", "*/ int x;", "\x1b[31mred", "2x", '"; system("x', "a\nb", "../x", "%s"]


def model(names: list[str]) -> ModelProto:
    """A product, a reduction and a softmax along each named dimension."""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 3], np.arange(12.0))
    nodes, inputs, outputs = [], [], []
    for k, name in enumerate(names):
        nodes += [
            helper.make_node("MatMul", [f"x{k}", "w"], [f"m{k}"]),
            helper.make_node("Softmax", [f"m{k}"], [f"y{k}"], axis=0),
        ]
        inputs.append(helper.make_tensor_value_info(f"x{k}", TensorProto.FLOAT, [name, 4]))
        outputs.append(helper.make_tensor_value_info(f"y{k}", TensorProto.FLOAT, [name, 3]))
    graph = helper.make_graph(nodes, "named", inputs, outputs, [weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("names", [ISL.split(), C.split(), IR.split(), HOSTILE], ids=["isl", "c", "ir", "hostile"])
def test_any_name_compiles(names: list[str]) -> None:
    net = mlc.compile(model(names))
    random = np.random.default_rng()
    xs = [random.standard_normal((n + 1, 4)).astype(np.float32) for n in range(len(names))]
    weights = np.arange(12.0).reshape(4, 3)
    for x, y in zip(xs, net(*xs), strict=True):
        e = np.exp((product := x.astype(np.float64) @ weights) - product.max(0))
        np.testing.assert_allclose(y, e / e.sum(0), atol=1e-5)


def test_the_model_and_its_header_have_the_names_of_the_file(tmp_path: Path) -> None:
    kept = ["n", "EOF", "true", "int", "batch", "N", "n_", "x0"]
    net = mlc.compile(model(kept))
    assert sorted(net.dims) == sorted(kept) and [spec.shape[0] for spec in net.inputs.values()] == kept
    net.save(tmp_path / "net.so")
    assert f"dims: {', '.join(net.dims)}\n" in (tmp_path / "net.h").read_text()


def test_words_that_no_expression_can_have_end_in_an_underscore() -> None:
    net = mlc.compile(model(["if", "max", "size0"]))
    assert sorted(net.dims) == ["if_", "max_", "size0_"] and "if, 4" in repr(net)
