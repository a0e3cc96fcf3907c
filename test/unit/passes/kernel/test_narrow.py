"""Casts to and from narrow types in compiled code, against ml_dtypes: every code, every half, many floats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from compiled import build
from graph_checks import GraphBuilder
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc.dialects.graph import MapOp
from mlc.dialects.semantics.evaluate import cast
from mlc.dialects.semantics.interpreter import interpret
from mlc.dialects.types import NARROW, numpy_dtype
from mlc.frontends.onnx import import_model

FLOATS = {
    "f8e4m3fn": TensorProto.FLOAT8E4M3FN,
    "f8e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ,
    "f8e5m2": TensorProto.FLOAT8E5M2,
    "f8e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ,
    "f6e2m3": TensorProto.FLOAT6E2M3,
    "f6e3m2": TensorProto.FLOAT6E3M2,
    "f4e2m1": TensorProto.FLOAT4E2M1,
}
INTEGERS = {"i4": TensorProto.INT4, "ui4": TensorProto.UINT4, "i2": TensorProto.INT2, "ui2": TensorProto.UINT2}
ALL = {**FLOATS, "f8e8m0": TensorProto.FLOAT8E8M0, **INTEGERS}
Array = np.ndarray[Any, Any]


def node(op: str, given: str, made: str, **attributes: Any) -> Any:
    return helper.make_node(op, given.split(), made.split(), **attributes)


def model(nodes: list[Any], inputs: dict[str, tuple[int, list[Any]]], outputs: list[str], weights: Any = ()) -> Any:
    infos = [helper.make_tensor_value_info(n, *i) for n, i in inputs.items()]
    results = [helper.make_empty_tensor_value_info(n) for n in outputs]
    graph = helper.make_graph(nodes, "test", infos, results, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)])


def samples() -> Array:
    """Every half, every power of two of f32 with its neighbours and ties, and random bits."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    powers = np.arange(1 << 13, dtype=np.uint32) << 19  # sign, exponent and four bits of the mantissa
    some = np.random.default_rng(3).integers(0, 1 << 32, 1 << 18, dtype=np.uint32)
    return np.concatenate([halves, powers, powers + 1, powers - 1, some]).view(np.float32)


def codes(element: str) -> Array:
    return np.arange(1 << NARROW[element], dtype=np.uint8).view(numpy_dtype(element))


def same_bits(actual: Array, wanted: Array) -> None:
    assert actual.dtype == wanted.dtype
    np.testing.assert_array_equal(actual.view(np.uint8), wanted.view(np.uint8))


@pytest.fixture(scope="module")
def encoders() -> Any:
    nodes = [node("Cast", "x", name, to=to, saturate=0) for name, to in FLOATS.items()]
    nodes += [node("Cast", "i", name, to=to) for name, to in INTEGERS.items()]
    types = {"x": (TensorProto.FLOAT, ["n"]), "i": (TensorProto.INT32, ["m"])}
    return mlc.compile(model(nodes, types, [*FLOATS, *INTEGERS]))


def test_encode(encoders: Any) -> None:
    x, i = samples(), np.arange(-300, 300, dtype=np.int32)
    results = encoders.run({"x": x, "i": i})
    with np.errstate(all="ignore"):
        for name in FLOATS:
            same_bits(results[name], x.astype(numpy_dtype(name)))
        for name in INTEGERS:
            same_bits(results[name], i.astype(numpy_dtype(name)))


@pytest.mark.parametrize("size", [0, 1, 3, 16, 37])
def test_encode_any_size(encoders: Any, size: int) -> None:
    x = np.linspace(-500, 500, size, dtype=np.float32)
    results = encoders.run({"x": x, "i": x.astype(np.int32)})
    for name in ALL.keys() - {"f8e8m0"}:
        same_bits(results[name], (x if name in FLOATS else x.astype(np.int32)).astype(numpy_dtype(name)))


def test_decode_and_back() -> None:
    """Every code is the value that ml_dtypes says, and comes back as itself (NaN as NaN)."""
    inputs = {name: (to, [f"n_{name}"]) for name, to in ALL.items()}
    nodes = [node("Cast", name, f"{name}_wide", to=TensorProto.FLOAT) for name in ALL]
    nodes += [node("Cast", f"{name}_wide", f"{name}_back", to=to, saturate=0) for name, to in ALL.items()]
    outputs = [f"{name}_{what}" for name in ALL for what in ("wide", "back")]
    results = mlc.compile(model(nodes, inputs, outputs)).run({name: codes(name) for name in ALL})
    for name in ALL:
        wanted = codes(name).astype(np.float32)
        np.testing.assert_array_equal(results[f"{name}_wide"], wanted)
        np.testing.assert_array_equal(np.signbit(results[f"{name}_wide"]), np.signbit(wanted))
        back = results[f"{name}_back"].astype(np.float32)
        np.testing.assert_array_equal(back, wanted)


def test_powers_of_two(tmp_path: Path) -> None:
    """f8e8m0 as ml_dtypes rounds it: a cast of the expression language, which no operator of ONNX is."""
    builder = GraphBuilder()
    x = builder.input("n", element="f32", name="x")
    net = build(builder, builder.module(builder.add(MapOp("f8e8m0(x0)", [x]))), tmp_path, tmp_path / "cache")
    values = samples()
    with np.errstate(all="ignore"):
        same_bits(net(values), values.astype(ml_dtypes.float8_e8m0fnu))
        same_bits(cast(values, "f8e8m0"), values.astype(ml_dtypes.float8_e8m0fnu))


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_round_mode(mode: str, saturate: int) -> None:
    """Rounded to a power of two between 2**-127 and 2**127; what lies outside is NaN or the nearest of these."""
    x = samples()
    x = x[~(x <= 0)]
    made = model(
        [node("Cast", "x", "y", to=TensorProto.FLOAT8E8M0, saturate=saturate, round_mode=mode)],
        {"x": (TensorProto.FLOAT, ["n"])},
        ["y"],
    )
    y = mlc.compile(made).run({"x": x})["y"]
    imported = import_model(made)
    with np.errstate(all="ignore"):
        same_bits(y, interpret(imported.module, imported.weights, {"x": x})["y"])
        inside = np.clip(x, 2.0**-127, 2.0**127).astype(np.float64)
        low = 2.0 ** np.floor(np.log2(inside))
        up = {"up": inside > low, "down": inside < 0, "nearest": inside >= 1.5 * low}[mode]
        wanted = np.where(up, 2 * low, low)
    if not saturate:
        wanted = np.where((x >= 2.0**-127) & (x <= 2.0**127), wanted, np.nan)
    np.testing.assert_array_equal(y.astype(np.float64), np.where(np.isnan(x), np.nan, wanted))


@pytest.mark.parametrize("name", [n for n in FLOATS if n != "f4e2m1"])
def test_saturated(name: str) -> None:
    x, dtype = samples(), numpy_dtype(name)
    made = model([node("Cast", "x", "y", to=ALL[name])], {"x": (TensorProto.FLOAT, ["n"])}, ["y"])
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    with np.errstate(all="ignore"):
        same_bits(mlc.compile(made).run({"x": x})["y"], np.clip(x, -largest, largest).astype(dtype))


def test_inside_fused_and_transposed_kernels() -> None:
    """Cast → Mul → Cast and a transposition, on a symbolic number of rows that is no multiple of a vector."""
    nodes = [
        node("Cast", "x", "w", to=TensorProto.FLOAT),
        node("Mul", "w w", "m"),
        node("Cast", "m", "s", to=TensorProto.FLOAT8E5M2),
        node("Transpose", "s", "y", perm=[1, 0]),
        node("Transpose", "x", "t", perm=[1, 0]),
    ]
    made = model(nodes, {"x": (TensorProto.FLOAT8E4M3FN, ["n", 37])}, ["y", "t"])
    net = mlc.compile(made)
    for n in (0, 1, 19, 64):
        x = (np.arange(n * 37) * 7 % 120).astype(np.uint8).view(ml_dtypes.float8_e4m3fn).reshape(n, 37)
        results = net.run({"x": x})
        square = np.minimum(x.astype(np.float32) ** 2, 57344).astype(ml_dtypes.float8_e5m2)
        same_bits(results["y"], np.ascontiguousarray(square.T))
        same_bits(results["t"], np.ascontiguousarray(x.T))


def test_moved_without_being_read() -> None:
    """Operators that only move data take any type; a constant's elements are packed two to a byte."""
    table = np.arange(24).astype(ml_dtypes.int4).reshape(4, 6)
    nodes = [
        node("Gather", "table i", "g", axis=0),
        node("Concat", "g x", "c", axis=0),
        node("Pad", "c pads", "p"),
        node("Where", "b c c", "w"),
        node("Slice", "w one two", "s"),
    ]
    ints = {"pads": [0, 1, 0, 1], "one": [1], "two": [3]}
    weights = [numpy_helper.from_array(table, "table")]
    weights += [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in ints.items()]
    inputs = {"x": (TensorProto.INT4, [2, 6]), "i": (TensorProto.INT64, [2]), "b": (TensorProto.BOOL, [6])}
    made = model(nodes, inputs, ["p", "s"], weights)
    x, i = table[:2], np.array([3, 1])
    feeds = {"x": x, "i": i, "b": np.arange(6) % 2 == 0}
    both = np.concatenate([table[i], x])
    imported = import_model(made)
    for results in (mlc.compile(made).run(feeds), interpret(imported.module, imported.weights, feeds)):
        np.testing.assert_array_equal(results["p"].astype(np.int8), np.pad(both.astype(np.int8), ((0, 0), (1, 1))))
        np.testing.assert_array_equal(results["s"].astype(np.int8), both[1:3].astype(np.int8))


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("name", ["i4", "ui2", "f4e2m1", "f6e3m2", "f8e5m2"])
def test_large_weights(tmp_path: Path, name: str, external: bool) -> None:
    """A weight that stays in its file is unpacked when it is read; its last byte may be partly used."""
    width = NARROW[name]
    array = np.random.default_rng(5).integers(0, 1 << width, (1025, 513), dtype=np.uint8).view(numpy_dtype(name))
    made = model(
        [node("Cast", "w", "wide", to=TensorProto.FLOAT), node("Add", "wide x", "y")],
        {"x": (TensorProto.FLOAT, [1])},
        ["y"],
        [numpy_helper.from_array(array, "w")],
    )
    path = tmp_path / "model.onnx"
    onnx.save(made, path, save_as_external_data=external, location="data", size_threshold=0)
    imported = import_model(path)
    same_bits(imported.weights["w"], array)
    y = mlc.compile(path).run({"x": np.zeros(1, np.float32)})["y"]
    np.testing.assert_array_equal(y, array.astype(np.float32))


@pytest.mark.parametrize("op", ["Add", "Relu", "ReduceSum", "MatMul", "MaxPool"])
def test_arithmetic_is_refused(op: str) -> None:
    shape = [1, 1, 4, 4]
    made = model(
        [node(op, "x x" if op in ("Add", "MatMul") else "x", "y", **({"kernel_shape": [2, 2]} if "P" in op else {}))],
        {"x": (TensorProto.FLOAT8E4M3FN, shape)},
        ["y"],
    )
    with pytest.raises(mlc.MlcError, match=f"(?s){op}.*no function computes in f8e4m3fn; cast"):
        import_model(made)


ONE = {"f8e4m3fn": 0x38, "ui4": 1, "f8e8m0": 127}


@pytest.mark.parametrize("name", ONE)
def test_bits_of_other_types(name: str) -> None:
    """BitCast to a type of as many bits and back; scalars and a known value too."""
    other = {8: "ui8", 4: "i4"}[NARROW[name]]
    to = {"ui8": TensorProto.UINT8, "i4": TensorProto.INT4}[other]
    nodes = [node("BitCast", a, b, to=to) for a, b in (("x", "c"), ("one", "k"))]
    nodes += [node("BitCast", "c", "y", to=ALL[name])]
    one = np.ones((), np.float32).astype(numpy_dtype(name))
    made = model(nodes, {"x": (ALL[name], ["n"])}, ["c", "y", "k"], [numpy_helper.from_array(one, "one")])
    results = mlc.compile(made).run({"x": codes(name)})
    same_bits(results["c"], codes(name).view(numpy_dtype(other)))
    same_bits(results["y"], codes(name))
    assert results["k"].view(np.uint8) == ONE[name]


def test_dequantized_blocks() -> None:
    """A weight of 4 bits with a scale and a zero point a block, in the kernel that reads it."""
    random = np.random.default_rng(11)
    w, zero = (random.integers(0, 16, s).astype(ml_dtypes.uint4) for s in ((64, 48), (4, 48)))
    scale = random.uniform(0.5, 2, (4, 48)).astype(np.float32)
    nodes = [node("DequantizeLinear", "w scale zero", "d", axis=0, block_size=16), node("MatMul", "x d", "y")]
    weights = [numpy_helper.from_array(a, n) for n, a in (("w", w), ("scale", scale), ("zero", zero))]
    made = model(nodes, {"x": (TensorProto.FLOAT, ["n", 64])}, ["y"], weights)
    x = random.standard_normal((5, 64)).astype(np.float32)
    whole = [np.repeat(a.astype(np.float64), 16, axis=0) for a in (zero, scale)]
    wanted = x @ ((w.astype(np.float64) - whole[0]) * whole[1])
    np.testing.assert_allclose(mlc.compile(made).run({"x": x})["y"], wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["f8e5m2", "i4"])
@pytest.mark.parametrize("axis", [None, 1])
def test_quantized(name: str, axis: int | None) -> None:
    """By a scale for all, and one for each column."""
    shape = [] if axis is None else [5]
    scale, zero = np.full(shape, 0.5, np.float32), np.zeros(shape, np.float32).astype(numpy_dtype(name))
    nodes = [node("QuantizeLinear", "x scale zero", "q", **({} if axis is None else {"axis": axis}))]
    nodes += [node("DequantizeLinear", "q scale zero", "y", **({} if axis is None else {"axis": axis}))]
    weights = [numpy_helper.from_array(scale, "scale"), numpy_helper.from_array(zero, "zero")]
    made = model(nodes, {"x": (TensorProto.FLOAT, ["n", 5])}, ["q", "y"], weights)
    x = np.random.default_rng(2).uniform(-8, 8, (7, 5)).astype(np.float32)
    results = mlc.compile(made).run({"x": x})
    wanted = np.clip(np.rint(x * 2), -8, 7) if name == "i4" else x * 2
    same_bits(results["q"], wanted.astype(numpy_dtype(name)))
    np.testing.assert_array_equal(results["y"], results["q"].astype(np.float32) / 2)


def test_nan_and_infinity_of_narrow_floats() -> None:
    made = model(
        [node("IsNaN", "x", "nan"), node("IsInf", "x", "inf")], {"x": (TensorProto.FLOAT8E5M2, ["n"])}, ["nan", "inf"]
    )
    results, wide = mlc.compile(made).run({"x": codes("f8e5m2")}), codes("f8e5m2").astype(np.float32)
    np.testing.assert_array_equal(results["nan"], np.isnan(wide))
    np.testing.assert_array_equal(results["inf"], np.isinf(wide))
