"""ONNX's Gradient: interpreted and compiled, against central differences of the interpreted ``y`` in float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import mlc
from mlc.dialects.interpreter import interpret
from mlc.frontends.onnx import import_model

Array = np.ndarray[Any, Any]
Nodes = list[NodeProto]
TRAINING = "ai.onnx.preview.training"
STEP = 1e-5


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    return helper.make_node(op, ["" if n == "_" else n for n in inputs.split()], outputs.split(), **attributes)


def gradient(inputs: str, outputs: str, xs: str, y: str, zs: str = "") -> NodeProto:
    more = {"zs": zs.split()} if zs else {}
    return node("Gradient", inputs, outputs, domain=TRAINING, xs=xs.split(), y=y, **more)


def model(
    nodes: Nodes, feeds: Mapping[str, Array], outputs: Sequence[str], weights: Mapping[str, Array], opset: int,
    shapes: Mapping[str, Sequence[int | str]] | None = None,
) -> ModelProto:  # fmt: skip
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), (shapes or {}).get(n, a.shape))
        for n, a in feeds.items()
    ]
    tensors = [numpy_helper.from_array(a, n) for n, a in weights.items()]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=n) for n in outputs], tensors)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(TRAINING, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def ways(made: ModelProto, feeds: Mapping[str, Array]) -> list[dict[str, Array]]:
    imported = import_model(made)
    return [interpret(imported.module, imported.weights, feeds), mlc.compile(made).run(feeds)]


def differences(nodes: Nodes, feeds: Mapping[str, Array], x: str, y: str, weights: Mapping[str, Array], opset: int
                ) -> Array:  # fmt: skip
    """The derivative of the sum of ``y`` with respect to ``x``, an input or weight."""
    values = {n: a.astype("f8") if a.dtype == np.float32 else a for n, a in {**feeds, **weights}.items()}
    known = {n: values.pop(n) for n in weights if n != x}
    forward = import_model(model(nodes, values, [y], known, opset))
    right = np.zeros(values[x].shape)
    for at in np.ndindex(right.shape):
        sums = []
        for step in (STEP, -STEP):
            moved = values[x].copy()
            moved[at] += step
            sums.append(float(interpret(forward.module, forward.weights, {**values, x: moved})[y].sum()))
        right[at] = (sums[0] - sums[1]) / (2 * STEP)
    return right


def check(nodes: Nodes, feeds: Mapping[str, Array], xs: str, opset: int = 22, y: str = "y", *,
          weights: Mapping[str, Array] | None = None, shapes: Mapping[str, Sequence[int | str]] | None = None,
          rtol: float = 3e-5) -> None:  # fmt: skip
    """Gradients of ``y`` with respect to the inputs or weights ``xs`` where they are, both ways."""
    outputs = [f"d_{x}" for x in xs.split()]
    made = model([*nodes, gradient(xs, " ".join(outputs), xs, y)], feeds, outputs, weights or {}, opset, shapes)
    right = {f"d_{x}": differences(nodes, feeds, x, y, weights or {}, opset) for x in xs.split()}
    for found in ways(made, feeds):
        for name, wanted in right.items():
            assert (found[name].dtype, found[name].shape) == (np.float32, wanted.shape)
            np.testing.assert_allclose(found[name], wanted, rtol=rtol, atol=rtol * max(1, np.abs(wanted).max()))


def normal(*shape: int, seed: int = 5) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype("f4")


def numbers(*values: int) -> Array:
    return np.array(values, "i8")


# -- networks


@pytest.mark.parametrize("opset", [12, 13, 22])
def test_perceptron_with_cross_entropy(opset: int) -> None:
    nodes = [
        node("Gemm", "x w1 b1", "h", transB=1),
        node("Relu", "h", "a"),
        node("MatMul", "a w2", "z"),
        node("Add", "z b2", "l"),
        node("SoftmaxCrossEntropyLoss", "l t", "y"),
    ]
    weights = {"w1": normal(6, 4), "b1": normal(6), "w2": normal(6, 3, seed=9), "b2": normal(3)}
    feeds = {"x": normal(5, 4), "t": numbers(2, 0, 1, 1, 2)}
    check(nodes, feeds, "x w1 b1 w2 b2", opset, weights=weights)
    check(nodes, {**feeds, **weights}, "b2 w1", opset, shapes={"x": ["n", 4], "t": ["n"]})


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_normalisation_by_hand(opset: int) -> None:
    axes = {"axes": [-1]} if opset < 18 else {}
    over = "" if opset < 18 else " axes"
    nodes = [
        node("ReduceMean", "x" + over, "m", **axes),
        node("Sub", "x m", "c"),
        node("Mul", "c c", "s"),
        node("ReduceMean", "s" + over, "v", **axes),
        node("Add", "v eps", "ve"),
        node("Sqrt", "ve", "d"),
        node("Div", "c d", "n"),
        node("Mul", "n scale", "ns"),
        node("Mul", "ns ns", "y"),
    ]
    weights = {"eps": np.float32(1e-3), "scale": normal(5)}
    given = {"axes": numbers(-1)} if opset >= 18 else {}
    shapes = {"x": ["rows", 2, 5]}
    check(nodes, {"x": normal(3, 2, 5)}, "x scale", opset, weights={**weights, **given}, shapes=shapes)


def test_layer_normalization_and_softmax() -> None:
    nodes = [
        node("LayerNormalization", "x g b", "n", axis=-1),
        node("Transpose", "n", "t", perm=[0, 2, 1]),
        node("MatMul", "n t", "s"),
        node("Softmax", "s", "p"),
        node("MatMul", "p x", "o"),
        node("Mul", "o o", "y"),
    ]
    check(nodes, {"x": normal(2, 3, 4), "g": normal(4), "b": normal(4, seed=6)}, "x g b")


@pytest.mark.parametrize("opset", [11, 22])
def test_convolutions_and_pooling(opset: int) -> None:
    nodes = [
        node("Conv", "x w wb", "c", pads=[1, 0, 1, 1], strides=[2, 1]),
        node("BatchNormalization", "c s b m v", "n"),
        node("LeakyRelu", "n", "a", alpha=0.1),
        node("MaxPool", "a", "p", kernel_shape=[2, 2]),
        node("Conv", "p u", "q", group=2),
        node("AveragePool", "q", "r", kernel_shape=[2, 2], pads=[0, 1, 1, 0]),
        node("GlobalAveragePool", "r", "g"),
        node("Flatten", "g", "f"),
        node("Mul", "f f", "y"),
    ]
    weights = {"w": normal(4, 2, 3, 2), "wb": normal(4), "u": normal(4, 2, 1, 2), "s": normal(4, seed=2)}
    weights |= {"b": normal(4, seed=1), "m": normal(4, seed=3), "v": np.abs(normal(4, seed=4)) + 0.5}
    check(nodes, {"x": normal(2, 2, 7, 6)}, "x w wb u s", opset, weights=weights)


def test_recurrent_steps() -> None:
    nodes = [node("LSTM", "x w r b", "all last", hidden_size=3), node("Mul", "all all", "y")]
    check(nodes, {"x": normal(4, 2, 2), "w": normal(1, 12, 2), "r": normal(1, 12, 3), "b": normal(1, 24)}, "x w r b")


def test_steps_of_different_lengths() -> None:
    nodes = [node("GRU", "x w r _ lengths", "all last", hidden_size=2), node("Mul", "all all", "y")]
    feeds = {"x": normal(3, 2, 2), "w": normal(1, 6, 2), "r": normal(1, 6, 2), "lengths": np.array([3, 1], "i4")}
    check(nodes, feeds, "x w r")


def test_axes_that_the_run_knows() -> None:
    feeds = {"x": normal(2, 3, 2), "a": numbers(1)}
    check([node("ReduceProd", "x a", "p"), node("Mul", "p p", "y")], feeds, "x")


def test_rows_that_data_selects() -> None:
    nodes = [node("Compress", "x c", "z", axis=0), node("Mul", "z z", "y")]
    check(nodes, {"x": normal(4, 3), "c": np.array([True, False, True, True])}, "x")


def test_sixteen_bits() -> None:
    """The gradient of a bias is a sum of 4096 elements, which 16 bits cannot count by ones."""
    feeds = {"x": np.ones((4096, 2), "f2"), "b": np.zeros(2, "f2")}
    nodes = [node("Add", "x b", "y"), gradient("b", "d", "b", "y")]
    for found in ways(model(nodes, feeds, ["d"], {}, 22), feeds):
        np.testing.assert_array_equal(found["d"], np.array([4096, 4096], "f2"))


def test_embedding() -> None:
    nodes = [node("Gather", "e t", "g"), node("Tanh", "g", "h"), node("ReduceSum", "h", "y")]
    check(nodes, {"e": normal(7, 3), "t": numbers(2, 0, 6, 2, 2).reshape(1, 5)}, "e", shapes={"t": [1, "words"]})


MOVES: dict[str, tuple[Nodes, dict[str, Array]]] = {
    "slices": ([node("Slice", "x a b c d", "s"), node("Concat", "s x", "y", axis=0)],
               {"a": numbers(3, -1), "b": numbers(0, -9), "c": numbers(0, 1), "d": numbers(-2, -1)}),
    "pads": ([node("Pad", "x p", "q", mode="reflect"), node("Pad", "q p", "y", mode="edge")],
             {"p": numbers(1, 2, 0, 1)}),
    "tile": ([node("Tile", "x r", "y")], {"r": numbers(2, 3)}),
    "expand": ([node("Unsqueeze", "x a", "u"), node("Expand", "u s", "y")], {"a": numbers(1), "s": numbers(4, 2, 4)}),
    "split": ([node("Split", "x", "a b", axis=1, num_outputs=2), node("Div", "a b", "y")], {}),
    "where": ([node("Greater", "x z", "c"), node("Exp", "x", "e"), node("Where", "c e x", "y")], {"z": np.float32(0)}),
    "gathered": ([node("GatherElements", "x i", "y", axis=1)], {"i": numbers(0, 0, 3, 1, 2, 2, 1, 3).reshape(4, 2)}),
    "scattered": ([node("ScatterElements", "x i u", "y", reduction="add")],
                  {"i": numbers(0, 2, 1, 1).reshape(1, 4), "u": normal(1, 4)}),
    "sums": ([node("CumSum", "x a", "y", exclusive=1)], {"a": np.array(1, "i8")}),
    "trilu": ([node("Trilu", "x", "y", upper=0)], {}),
    "einsum": ([node("Einsum", "x x", "y", equation="ij,kj->ik")], {}),
    "most": ([node("TopK", "x k", "v i"), node("Mul", "v v", "y")], {"k": numbers(2)}),
    "resize": ([node("Reshape", "x s", "r"), node("Resize", "r _ f", "y", mode="linear")],
               {"s": numbers(1, 1, 4, 4), "f": np.array([1, 1, 2, 1.5], "f4")}),
    "reduced": ([node("ReduceMax", "x a", "p"), node("ReduceProd", "x a", "q"), node("ReduceL2", "x a", "r"),
                 node("ReduceLogSumExp", "x a", "s"), node("Sum", "p q r s", "y")], {"a": numbers(1)}),
    "losses": ([node("Hardmax", "x", "t"), node("LogSoftmax", "x", "l"), node("Mul", "t l", "y")], {}),
    "casts": ([node("Cast", "x", "h", to=TensorProto.DOUBLE), node("Sin", "h", "y")], {}),
    "matrix": ([node("Det", "x", "d"), node("Mul", "d d", "y")], {}),
}  # fmt: skip


@pytest.mark.parametrize("case", MOVES)
def test_moves_and_reductions(case: str) -> None:
    nodes, weights = MOVES[case]
    cube = [node("Mul", "x0 x0", "x1"), node("Mul", "x1 x0", "x"), *nodes]
    last = cube[-1].output[0]
    cube += [node("Mul", f"{last} {last}", "loss")]
    check(cube, {"x0": normal(4, 4)}, "x0", y="loss", weights=weights, rtol=1e-4)


UNARY = ("Abs Neg Exp Sqrt Sigmoid Tanh Softplus Softsign Erf Sin Cos Atan Sinh Cosh Asinh Relu Elu Selu Celu Gelu "
         "HardSigmoid HardSwish LeakyRelu Mish Reciprocal Floor Identity ThresholdedRelu")  # fmt: skip
BINARY = "Add Sub Mul Div Max Min Pow Mean"


@pytest.mark.parametrize("seed", range(8))
def test_random_expressions(seed: int) -> None:
    """A dozen operators, each of results before; roots, powers and quotients of positive numbers."""
    random = np.random.default_rng([17, seed])
    feeds = {"v0": normal(3, 4, seed=seed), "v1": normal(4, seed=seed), "v2": normal(3, 1, seed=seed)}
    nodes: Nodes = []
    for n in range(3, 15):
        a, b = (f"v{random.integers(max(0, n - 5), n)}" for _ in range(2))
        op = str(random.choice((UNARY if n % 2 else BINARY).split()))
        if op in ("Sqrt", "Pow", "Reciprocal", "Div", "Exp", "Sinh", "Cosh"):
            nodes += [node("Sigmoid", a, f"s{n}"), node("Sigmoid", b, f"t{n}")]
            a, b = f"s{n}", f"t{n}"
        nodes += [node(op, a if n % 2 else f"{a} {b}", f"v{n}")]
    nodes += [node("Sum", " ".join(f"v{n}" for n in range(3, 15)), "y")]
    check(nodes, feeds, "v0 v1 v2", rtol=2e-4)


# -- what the operator's text says


def second(inputs: str, xs: str, **zs: str) -> Nodes:
    return [
        node("MatMul", "x w", "p"),
        node("Tanh", "p", "t"),
        node("Mul", "t l", "s"),
        node("ReduceSum", "s", "o"),
        gradient("x w l", "dx dw", "x w", "o", "l"),
        gradient(inputs, "a b", xs, "dw", **zs),
    ]


@pytest.mark.parametrize("opset", [13, 22])
def test_second_derivatives(opset: int) -> None:
    """d(dO/dW)/dX and d²O/dW² of the example; dO/dW is differenced as mlc computes it."""
    feeds = {"x": normal(3, 2), "w": normal(2, 4), "l": normal(3, 4)}
    nodes = second("x w l", "x w", zs="l")
    first = import_model(model(nodes[:-1], {n: a.astype("f8") for n, a in feeds.items()}, ["dw"], {}, opset))
    found = ways(model(nodes, feeds, ["a", "b"], {}, opset), feeds)
    for x, name in (("x", "a"), ("w", "b")):
        right = np.zeros(feeds[x].shape)
        for at in np.ndindex(right.shape):
            sums = []
            for step in (STEP, -STEP):
                moved = {n: a.astype("f8") for n, a in feeds.items()}
                moved[x][at] += step
                sums.append(interpret(first.module, first.weights, moved)["dw"].sum())
            right[at] = (sums[0] - sums[1]) / (2 * STEP)
        for results in found:
            np.testing.assert_allclose(results[name], right, rtol=1e-4, atol=1e-5)


def test_second_derivative_sees_names_that_the_first_does_not() -> None:
    """The inner Gradient names x alone; what it gives depends on w all the same: d(sum of w·2x)/dw = 2x."""
    nodes = [
        node("Mul", "x x", "xx"),
        node("Mul", "xx w", "y"),
        gradient("x", "dx", "x", "y"),
        gradient("w", "dw", "w", "dx"),
    ]
    feeds = {"x": normal(3), "w": normal(3, seed=2)}
    for found in ways(model(nodes, feeds, ["dw", "dx"], {}, 20), feeds):
        np.testing.assert_allclose(found["dw"], 2 * feeds["x"], rtol=1e-6)
        np.testing.assert_allclose(found["dx"], 2 * feeds["x"] * feeds["w"], rtol=1e-6)


def test_intermediate_tensors_and_other_inputs() -> None:
    """With respect to h at another h, of another shape; of two inputs that are one tensor; of a known one."""
    nodes = [
        node("Exp", "x", "h"),
        node("Mul", "h z", "y"),
        gradient("k z", "dh dz", "h z", "y"),
        gradient("x x", "_ dx", "h z", "y"),
        gradient("k", "dk", "h", "y", ""),
    ]
    feeds = {"x": normal(3), "k": normal(2, 3)}
    z = normal(3, seed=8)
    for found in ways(model(nodes, feeds, ["dh", "dz", "dx", "dk", "y"], {"z": z}, 20), feeds):
        np.testing.assert_allclose(found["dh"], np.broadcast_to(z, (2, 3)), rtol=1e-6)
        np.testing.assert_allclose(found["dz"], feeds["k"].sum(0), rtol=1e-5)
        np.testing.assert_allclose(found["dx"], feeds["x"], rtol=1e-6)
        np.testing.assert_allclose(found["dk"], np.broadcast_to(z, (2, 3)), rtol=1e-6)


def test_of_itself_and_of_what_it_does_not_depend_on() -> None:
    nodes = [node("Neg", "x", "y"), gradient("x w", "dx dw", "y w", "y")]
    feeds = {"x": normal(2), "w": normal(3)}
    for found in ways(model(nodes, feeds, ["dx", "dw"], {}, 20), feeds):
        np.testing.assert_array_equal(found["dx"], [1, 1])
        np.testing.assert_array_equal(found["dw"], [0, 0, 0])


def test_dropout_is_the_same_again() -> None:
    """What is drawn for the gradient is what was drawn for the value: dy/dx is y / x."""
    nodes = [
        node("RandomUniformLike", "x", "noise"),
        node("Dropout", "x ratio train", "d"),
        node("Dropout", "d ratio train", "y"),
        gradient("x", "dx", "x", "y"),
    ]
    weights = {"ratio": np.float32(0.4), "train": np.array(True)}
    feeds = {"x": normal(50)}
    for found in ways(model(nodes, feeds, ["y", "dx"], weights, 22), feeds):
        assert 0 < (found["y"] == 0).sum() < 50
        np.testing.assert_allclose(found["dx"], found["y"] / feeds["x"], rtol=1e-6)


def test_in_a_function() -> None:
    body = [node("Mul", "a a", "s"), gradient("a", "g", "a", "s")]
    function = helper.make_function("own", "Slope", ["a"], ["g"], body,
                                    [helper.make_opsetid("", 20), helper.make_opsetid(TRAINING, 1)])  # fmt: skip
    made = model([node("Slope", "x", "y", domain="own")], {"x": normal(4)}, ["y"], {}, 20)
    made.functions.append(function)
    made.opset_import.append(helper.make_opsetid("own", 1))
    for found in ways(made, {"x": normal(4)}):
        np.testing.assert_allclose(found["y"], 2 * normal(4), rtol=1e-6)


# -- what is refused


def branch(name: str, *nodes: NodeProto) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), name, [], [onnx.ValueInfoProto(name=nodes[-1].output[0])])


REFUSED: dict[str, tuple[Nodes, str]] = {
    "whole numbers": ([node("Cast", "x", "i", to=TensorProto.INT64), node("Mul", "i i", "y"),
                       gradient("i", "d", "i", "y")], r"'i' is i64\[3\]; gradients are of tensors of f16"),
    "of whole numbers": ([node("Cast", "x", "y", to=TensorProto.INT64), gradient("x", "d", "x", "y")],
                         r"'y' is i64\[3\]; gradients"),
    "no rule": (
        [
            node("Expand", "k n", "i"),
            node("ScatterElements", "x i x", "y", name="most", reduction="max"),
            gradient("x", "d", "x", "y"),
        ],
        "graph.scatter that combines by max has no derivative, at node 'most'; sums, products",
    ),
    "no such y": ([node("Neg", "x", "y"), gradient("x", "d", "x", "z")], "no node before it computes 'z'"),
    "no such x": ([node("Neg", "x", "y"), gradient("x", "d", "v", "y")], "no tensor before it is named 'v'"),
    "too few inputs": ([node("Neg", "x", "y"), gradient("x", "d", "x k", "y")], "1 inputs for xs"),
    "later": ([gradient("x", "d", "x", "y"), node("Neg", "x", "y")], "no node before it computes 'y'"),
    "in a branch": ([node("Neg", "x", "y"), node("Greater", "k k", "c"),
                     node("If", "c", "d", then_branch=branch("t", gradient("x", "e", "x", "y")),
                          else_branch=branch("f", node("Neg", "x", "e")))], "in the body of a control-flow node"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    nodes, message = REFUSED[case]
    made = model(nodes, {"x": normal(3), "k": np.array(0, "i8")}, ["d"], {"n": numbers(3)}, 20)
    with pytest.raises(mlc.MlcError, match=message):
        import_model(made)
