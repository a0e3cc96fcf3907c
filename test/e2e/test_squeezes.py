"""Squeeze without axes of open extents: its rank follows from the sizes, as onnxruntime's does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from control import FLOAT, Array, agree, body, kinds, model, node
from onnx import ModelProto, NodeProto

import mlc
from mlc.errors import RunError
from mlc.frontends.onnx import import_model

RNG = np.random.default_rng()
SQUEEZE = node("Squeeze", "x", "s")
CONSTANTS = {"zero": np.array([0]), "last": np.array([-1]), "row": np.array([-1, 2])}


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def built(nodes: Sequence[NodeProto], x: Sequence[int | str], opset: int = 18, **weights: Array) -> ModelProto:
    used = {name for each in nodes for name in each.input}
    constants = {name: value for name, value in CONSTANTS.items() if name in used}
    return model(nodes, {"x": (FLOAT, x)}, {"y": (FLOAT, None)}, constants | weights, opset)


def feeds(*shapes: Sequence[int]) -> list[dict[str, Array]]:
    return [{"x": normal(*shape)} for shape in shapes]


@pytest.mark.parametrize("opset", [1, 11, 13, 21])
def test_outputs_of_every_rank(opset: int) -> None:
    proto = built([node("Squeeze", "x", "y")], ["n", 1, "t"], opset)
    agree(proto, *feeds((2, 1, 3), (1, 1, 3), (2, 1, 1), (1, 1, 1)))


def test_extents_of_one_name_go_together() -> None:
    agree(built([SQUEEZE, node("Tanh", "s", "y")], ["n", 3, "n"]), *feeds((2, 3, 2), (1, 3, 1)))


AFTER: dict[str, tuple[list[NodeProto], dict[str, Array]]] = {
    "unsqueeze": ([node("Unsqueeze", "s zero", "y")], {}),
    "reshape": ([node("Reshape", "s row", "y")], {}),
    "flatten": ([node("Flatten", "s", "y", axis=0)], {}),
    "transpose": ([node("Transpose", "s", "y")], {}),
    "matmul": ([node("MatMul", "s w", "y")], {"w": normal(4, 3)}),
    "gemm": ([node("Gemm", "s w b", "y")], {"w": normal(4, 3), "b": normal(3)}),
    "sum of the last": ([node("ReduceSum", "s last", "y", keepdims=0)], {}),
    "sum of all": ([node("ReduceSum", "s", "y", keepdims=0)], {}),
    "shape": ([node("Shape", "s", "h"), node("Cast", "h", "y", to=FLOAT)], {}),
    "beside its input": ([node("Squeeze", "x axis", "r"), node("Add", "r s", "y")], {"axis": np.array([1])}),
    "two beside each other": (
        [node("Neg", "x", "n"), node("Squeeze", "n", "t"), node("Exp", "s", "e"), node("Add", "e t", "y")],
        {},
    ),
    "twice": ([node("Exp", "s", "e"), node("Squeeze", "e", "y")], {}),
}


@pytest.mark.parametrize("name", AFTER)
def test_what_follows_has_the_rank_of_the_sizes(name: str) -> None:
    nodes, weights = AFTER[name]
    agree(built([SQUEEZE, *nodes], ["n", 1, 4], **weights), *feeds((3, 1, 4), (1, 1, 4)), rtol=1e-4)


def test_an_extent_that_is_1_where_the_size_is_goes_too() -> None:
    nodes = [node("Slice", "x zero two last", "p"), node("Squeeze", "p", "y")]
    agree(built(nodes, ["n", 3, "t"], two=np.array([2])), *feeds((2, 3, 4), (1, 3, 1), (2, 3, 1), (1, 3, 3)))
    agree(built(nodes, ["t", 1, "t"], two=np.array([2])), *feeds((3, 1, 3), (2, 1, 2), (1, 1, 1)))


def test_several_outputs() -> None:
    nodes = [SQUEEZE, node("Tanh", "s", "a"), node("Neg", "x", "b"), node("ReduceMax", "s last", "c", keepdims=0)]
    outputs = dict.fromkeys("abc", (FLOAT, None))
    agree(model(nodes, {"x": (FLOAT, ["n", 4])}, outputs, {"last": np.array([-1])}, 18), *feeds((3, 4), (1, 4)))


def test_a_rank_that_no_model_has_is_an_error() -> None:
    """Of the first two rows there is one, or a row whose first two elements they are."""
    proto = built([SQUEEZE, node("Gather", "s first", "y")], ["n", 4], first=np.array([0, 1]))
    agree(proto, *feeds((3, 4), (2, 4)))
    with pytest.raises(RunError, match="n != 1, but n is 1; Squeeze at node 'Squeeze.s' .*mlc compile --dim n=1"):
        mlc.compile(proto)(normal(1, 4))
    x = normal(1, 4)
    np.testing.assert_array_equal(mlc.compile(proto, dims={"n": 1})(x), x[0, :2])


def test_an_error_of_nested_ranks_says_how_the_other_one_is_made() -> None:
    nodes = [SQUEEZE, node("Gather", "s first", "g"), node("Squeeze", "g", "y")]
    proto = built(nodes, ["n", 4, "t"], first=np.array([0, 1]))
    agree(proto, *feeds((3, 4, 2), (2, 4, 1)))
    with pytest.raises(RunError, match="n != 1.* Squeeze at node 'Squeeze.s' .*mlc compile --dim n=1"):
        mlc.compile(proto)(normal(1, 4, 1))


@pytest.mark.parametrize("kept", [True, False])
def test_counts_of_elements(kept: bool) -> None:
    """Where one element alone is not zero, its index is a scalar."""
    nodes = [node("NonZero", "x", "i"), node("Transpose", "i", "j", perm=[1, 0]), node("Squeeze", "j", "k")]
    nodes += [node("Gather", "x k", "y")] if kept else [node("Gather", "x k", "g"), node("Reshape", "g last", "y")]
    given = [[0, 1, 1, 0, 2], [0, 0, 0, 3, 0], [0, 0, 0, 0, 0]]
    agree(built(nodes, [5]), *({"x": np.array(x, np.float32)} for x in given))


def test_a_squeeze_in_a_branch() -> None:
    then = body([node("Squeeze", "x", "q"), node("ReduceSum", "q", "t", keepdims=0)], {}, {"t": (FLOAT, None)})
    other = body([node("ReduceMax", "x", "e", keepdims=0)], {}, {"e": (FLOAT, None)})
    nodes = [node("ReduceMin", "x", "m", keepdims=0), node("Greater", "m none", "c"),
             node("If", "c", "y", then_branch=then, else_branch=other)]  # fmt: skip
    x = np.abs(normal(3, 4))
    proto = built(nodes, ["n", 4], none=np.float32(0))
    agree(proto, {"x": x}, {"x": -x}, {"x": x[:1]}, {"x": -x[:1]}, rtol=1e-4)


def test_a_caller_gives_the_output_of_its_rank() -> None:
    net = mlc.compile(built([node("Squeeze", "x", "y")], ["n", 4]))
    assert str(net.outputs["y"]) == "float32[n?, 4]"
    assert net.signature["outputs"][0]["optional"] == [0]
    for shape in ((3, 4), (1, 4)):
        x = normal(*shape)
        out = np.empty(x.squeeze().shape, np.float32)
        net.run({"x": x}, {"y": out})
        np.testing.assert_array_equal(out, x.squeeze())
    with pytest.raises(RunError, match=r"must be float32 of the shape \(4,\)"):
        net.run({"x": x}, {"y": np.empty((1, 4), np.float32)})


def test_a_model_that_is_not_compiled_yet_answers_alike() -> None:
    net = mlc.compile(built([node("Squeeze", "x", "y")], ["n", 7]), wait=False)
    x = normal(1, 7)
    np.testing.assert_array_equal(net(x), x[0])
    np.testing.assert_array_equal(net.result()(x), x[0])


def test_known_sizes_need_no_branch() -> None:
    proto = built([SQUEEZE, node("Neg", "s", "y")], ["n", 1, 4])
    assert kinds(proto) == ["graph.if"]
    for n in (1, 2):
        module = import_model(proto, {"n": n}).module
        assert "graph.if" not in str(module) and "graph.optional" not in str(module)


def test_a_function_on_arrays_has_the_rank_of_the_sizes() -> None:
    f = mlc.function(built([SQUEEZE, node("Exp", "s", "y")], ["n", 4]))
    for shape in ((3, 4), (1, 4)):
        x = normal(*shape)
        y = f(x)
        assert y.shape == x.squeeze().shape
        np.testing.assert_allclose(np.asarray(y), np.exp(x.squeeze()), rtol=1e-5)
        slopes = np.asarray(mlc.grad(lambda given: f(given).sum())(x))
        np.testing.assert_allclose(slopes, np.exp(x), rtol=1e-5)
