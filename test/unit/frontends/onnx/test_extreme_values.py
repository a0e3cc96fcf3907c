"""Extreme attributes and values: an error that names node, operator and shapes, or what ``docs/numerics.md`` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc.errors import InputError, MlcError, RunError

HUGE = 2**62
NAN = np.nan


def model(
    op: str,
    inputs: Mapping[str, Any],
    constants: Mapping[str, Any] = {},
    out: int = 0,
    **attributes: Any,  # noqa: B006
) -> onnx.ModelProto:
    """One node; inputs are (type, shape), in the order of both mappings."""
    names = sorted({**inputs, **constants})
    node = helper.make_node(op, names, ["y"], "it", **attributes)
    given = [helper.make_tensor_value_info(n, *inputs[n]) for n in inputs]
    stored = [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()]
    result = helper.make_tensor_value_info("y", out or TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", given, [result], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def ran(proto: onnx.ModelProto, feed: Mapping[str, Any]) -> np.ndarray:
    (found,) = mlc.compile(proto).run({name: np.asarray(value) for name, value in feed.items()}).values()
    return found


IMAGE = {"a": (TensorProto.FLOAT, (1, 2, 5, 5))}
ONE = {"a": (TensorProto.FLOAT, (1, 1))}
KERNEL = {"b": np.ones((2, 2, 3, 3), np.float32)}
REFUSED = [
    ("Conv", IMAGE, KERNEL, {"pads": [HUGE] * 4}),
    ("AveragePool", IMAGE, {}, {"kernel_shape": [10**9] * 2, "pads": [10**9 - 1] * 4}),
    ("MaxPool", IMAGE, {}, {"kernel_shape": [HUGE] * 2, "pads": [HUGE - 1] * 4}),
    ("LpPool", IMAGE, {}, {"kernel_shape": [HUGE] * 2, "pads": [HUGE - 1] * 4}),
    ("Expand", ONE, {"b": np.array([2**40, 2**40])}, {}),
    ("Tile", ONE, {"b": np.array([HUGE, HUGE])}, {}),
    ("Pad", ONE, {"b": np.array([HUGE] * 4)}, {}),
]


@pytest.mark.parametrize(("op", "inputs", "constants", "attributes"), REFUSED, ids=[r[0] for r in REFUSED])
def test_sizes_that_no_memory_holds(op: str, inputs: Any, constants: Any, attributes: Any) -> None:
    with pytest.raises(InputError, match=rf"(?s){op}.*'it'.*from .*\[.*more elements than any memory holds"):
        mlc.compile(model(op, inputs, constants, **attributes))


def test_tables_that_no_memory_holds() -> None:
    constants = {"b": np.array([], np.float32), "c": np.array([1, 1, 1e12, 1e12], np.float32)}
    with pytest.raises(InputError, match=r"'it', operator 'Resize'"):
        mlc.compile(model("Resize", IMAGE, constants))


@pytest.mark.parametrize("number", [-(2**63), -1, 0, 2**31, HUGE, 2**63 - 1])
@pytest.mark.parametrize("op", ["Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("name", ["pads", "strides", "dilations", "kernel_shape"])
def test_any_attribute_of_a_window(op: str, name: str, number: int) -> None:
    """It is compiled, or refused as an error of the model."""
    constants = KERNEL if op.startswith("Conv") else {}
    attributes = {"kernel_shape": [3, 3], name: [number] * (4 if name == "pads" else 2)}
    try:
        mlc.check(model(op, IMAGE, constants, **attributes))
    except MlcError as error:
        assert isinstance(error, InputError), error


@pytest.mark.parametrize("rank", [65, 10_000])
def test_ranks_over_the_most(rank: int) -> None:
    with pytest.raises(InputError, match=rf"rank {rank} of input 'a' is over 64"):
        mlc.compile(model("Exp", {"a": (TensorProto.FLOAT, (1,) * rank)}))


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_a_scale_of_zero(kind: Any) -> None:
    proto = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    net = model("QuantizeLinear", {"a": (proto, (3,))}, {"b": np.array(0, kind)}, TensorProto.UINT8)
    assert ran(net, {"a": np.array([-1, 2, 3], kind)}).tolist() == [0, 255, 255]


def test_a_constant_range_of_delta_zero() -> None:
    constants = {"a": np.float32(0), "b": np.float32(4), "c": np.float32(0)}
    with pytest.raises(InputError, match="'it'.*from 0.0 to 4.0 in steps of 0.0"):
        mlc.compile(model("Range", {}, constants))


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.FLOAT])
def test_a_range_of_delta_zero(kind: int) -> None:
    net = mlc.compile(model("Range", dict.fromkeys("abc", (kind, ())), out=kind))
    one = helper.tensor_dtype_to_np_dtype(kind).type
    assert net.run({"a": one(0), "b": one(4), "c": one(2)})["y"].tolist() == [0, 2]
    with pytest.raises(RunError, match="'it': the delta of a range is 0"):
        net.run({"a": one(0), "b": one(4), "c": one(0)})


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_the_first_nan_is_found(op: str, last: int) -> None:
    x = np.array([[1, NAN, 3, NAN, 2], [5, 0, 5, 0, 1], [NAN] * 5, [-np.inf] * 5, [np.inf, 1, NAN, np.inf, 0]], "f4")
    net = model(op, {"a": (TensorProto.FLOAT, x.shape)}, out=TensorProto.INT64, axis=1, select_last_index=last)
    find = np.argmax if op == "ArgMax" else np.argmin
    expected = 4 - find(x[:, ::-1], 1) if last else find(x, 1)
    assert ran(net, {"a": x})[:, 0].tolist() == expected.tolist()


def test_shrink_of_nan() -> None:
    net = model("Shrink", {"a": (TensorProto.FLOAT, (4,))}, lambd=1.5, bias=0.5)
    assert ran(net, {"a": np.array([NAN, 2, -np.inf, 1], np.float32)}).tolist() == [0, 1.5, -np.inf, 0]


@pytest.mark.parametrize("given", [(0, 2**63 - 1, 2**63 - 1), (5, -(2**63), -(2**63)), (1, HUGE, HUGE), (5, -9, -4)])
def test_extreme_steps_of_slices(given: tuple[int, int, int]) -> None:
    vectors = dict.fromkeys("bce", (TensorProto.INT64, (1,)))
    net = model("Slice", {"a": (TensorProto.FLOAT, (6,)), **vectors}, {"d": np.array([0])})
    x = np.arange(6, dtype=np.float32)
    feed = {name: np.array([value]) for name, value in zip("bce", given, strict=True)}
    assert ran(net, {"a": x, **feed}).tolist() == x[slice(*given)].tolist()


@pytest.mark.parametrize("length", [7, "k"])
def test_a_condition_longer_than_the_data(length: int | str) -> None:
    inputs: Mapping[str, tuple[int, Sequence[int | str]]]
    inputs = {"a": (TensorProto.FLOAT, (2, 5)), "b": (TensorProto.BOOL, (length,))}
    x, condition = np.arange(10, dtype=np.float32).reshape(2, 5), np.array([1, 0, 1, 0, 0, 1, 1], bool)
    assert ran(model("Compress", inputs, axis=1), {"a": x, "b": condition}).tolist() == x[:, [0, 2]].tolist()


def test_default_axes_of_another_rank() -> None:
    """The default axes of MeanVarianceNormalization are those of four dimensions."""
    with pytest.raises(MlcError, match="axis 3 of a tensor of rank 3"):
        mlc.compile(model("MeanVarianceNormalization", {"a": (TensorProto.FLOAT, (2, 3, 5))}))
