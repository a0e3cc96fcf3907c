"""Constants of 64-bit floats keep all their bits on the way into C: in expressions, paddings, fills and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper

import mlc

VALUES = [0.1, -1 / 3, np.pi, 2.0**24 + 1, 2.0**53 - 1, 1e300, -1e-300, 1e39, 5e-324, -2.2e-310, 1 + 2.0**-52]
"""No float of 32 bits has one of these values: too fine, too large or too small."""
N = 37  # vectors and a rest


def model(nodes: list[Any], outputs: int, constants: dict[str, Any], n: int | str = N) -> ModelProto:
    """y0, y1, … of x[n]"""
    x, *y = (helper.make_tensor_value_info(name, 11, None) for name in ["x", *(f"y{k}" for k in range(outputs))])
    x = helper.make_tensor_value_info("x", 11, [n])
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "wide", [x], y, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def same(found: Any, wanted: Any) -> None:
    """Bit by bit, with the sign of zero: each is rounded once."""
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.view(np.int64), np.asarray(wanted, np.float64).view(np.int64))


@pytest.fixture(scope="module")
def x() -> np.ndarray:
    seed = np.random.SeedSequence().generate_state(1)[0]
    print(f"seed {seed}")
    return np.random.default_rng(seed).uniform(0.5, 2, N)


def test_the_values_need_64_bits() -> None:
    with np.errstate(over="ignore"):
        assert all(np.float64(np.float32(value)) != value for value in VALUES)


@pytest.mark.parametrize("n", [N, "n"])
@pytest.mark.parametrize(("op", "reference"), [("Mul", np.multiply), ("Add", np.add), ("Max", np.maximum)])
def test_in_expressions(x: np.ndarray, op: str, reference: Any, n: int | str) -> None:
    nodes = [helper.make_node(op, ["x", f"c{k}"], [f"y{k}"]) for k in range(len(VALUES))]
    net = mlc.compile(model(nodes, len(VALUES), {f"c{k}": value for k, value in enumerate(VALUES)}, n))
    for found, value in zip(net(x), VALUES, strict=True):
        same(found, reference(x, value))


def test_in_one_expression(x: np.ndarray) -> None:
    """where(x < 1, 0.1, 1e300) and clip(x, 1 - 2^-53, 1 + 2^-52): constants beside each other."""
    low, high = 1 - 2.0**-53, 1 + 2.0**-52
    x[:4] = low, high, 1, np.nextafter(high, 2)
    constants = {"one": np.float64(high), "a": 0.1, "b": 1e300, "low": low, "high": high}
    nodes = [
        helper.make_node("Less", ["x", "one"], ["less"]),
        helper.make_node("Where", ["less", "a", "b"], ["y0"]),
        helper.make_node("Clip", ["x", "low", "high"], ["y1"]),
    ]
    chosen, clipped = mlc.compile(model(nodes, 2, constants))(x)
    same(chosen, np.where(x < high, 0.1, 1e300))
    same(clipped, np.clip(x, low, high))


def test_in_paddings(x: np.ndarray) -> None:
    nodes = [helper.make_node("Pad", ["x", "pads", f"c{k}"], [f"y{k}"]) for k in range(len(VALUES))]
    constants = {f"c{k}": value for k, value in enumerate(VALUES)} | {"pads": np.array([3, 2])}
    for found, value in zip(mlc.compile(model(nodes, len(VALUES), constants))(x), VALUES, strict=True):
        same(found, np.pad(x, (3, 2), constant_values=value))


def test_in_weights(x: np.ndarray) -> None:
    """Small, printed or stored; and large, always stored."""
    small, large = np.array(VALUES), np.resize(VALUES, (999, N))
    nodes = [
        helper.make_node("Concat", ["x", "small"], ["y0"], axis=0),
        helper.make_node("Mul", ["x", "large"], ["y1"]),
        helper.make_node("ConstantOfShape", ["shape"], ["fill"], value=numpy_helper.from_array(np.array([0.1]))),
        helper.make_node("Mul", ["x", "fill"], ["y2"]),
    ]
    joined, product, filled = mlc.compile(model(nodes, 3, {"small": small, "large": large, "shape": np.array([3, N])}))(
        x
    )
    same(joined, np.concatenate([x, small]))
    same(product, x * large)
    same(filled, np.broadcast_to(x * 0.1, (3, N)))
