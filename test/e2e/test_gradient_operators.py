"""ONNX's Gradient of operators, one by one and at random."""

from __future__ import annotations

import numpy as np
import pytest
from gradients import Array, Nodes, check, node, normal, numbers
from onnx import TensorProto

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
