"""TopK, CumSum and CumProd: against onnxruntime and NumPy, of all types, with ties, symbolic sizes and many threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import graph, node
from onnx import TensorProto
from single import agrees, single

import mlc
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.onnx import import_model


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng()


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize(
    ("shape", "axis", "k"),
    [((300,), 0, 4), ((300,), 0, 300), ((5, 70), -1, 60), ((90, 3, 4), 0, 7), ((2, 33, 3), 1, 33)],
)
def test_top_k(rng: np.random.Generator, shape: tuple[int, ...], axis: int, k: int, largest: int) -> None:
    x = rng.integers(-9, 9, shape).astype("f4") / 4  # many are equal
    agrees("TopK", {"x": x, "k": np.array([k])}, 2, constants=["k"], rtol=0, axis=axis, largest=largest)


@pytest.mark.parametrize("dtype", ["f2", "f8", "i1", "i2", "u4", "u8", "i8"])
@pytest.mark.parametrize("k", [3, 40])
def test_top_k_of_types(rng: np.random.Generator, dtype: str, k: int) -> None:
    x = (rng.integers(-100, 100, (3, 40)) if dtype[0] != "u" else rng.integers(0, 1 << 31, (3, 40)) * 2).astype(dtype)
    positions = np.argsort(-x.astype("f8"), kind="stable")[:, :k]
    wanted = [np.take_along_axis(x, positions, 1), positions]
    agrees("TopK", {"x": x, "k": np.array([k])}, 2, wanted=wanted, constants=["k"], rtol=0)


def test_extremes_have_an_order(rng: np.random.Generator) -> None:
    x = rng.permutation(np.array([np.nan, np.inf, -np.inf, 0, -1.5, 3e38, -3e38, 1e-45, 7], "f4"))
    for largest, wanted in ((1, np.sort(x)[::-1]), (0, np.sort(x))):
        model = single("TopK", {"x": x, "k": np.array([9])}, 2, constants=["k"], largest=largest)
        imported = import_model(model)
        for found in (mlc.compile(model).run({"x": x}), interpret(imported.module, imported.weights, {"x": x})):
            np.testing.assert_array_equal(found["y0"], wanted)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u8", "f2", "u1"])
def test_long_rows(rng: np.random.Generator, dtype: str, largest: int) -> None:
    """Every byte of the keys decides somewhere; zeros of both signs are equal, and equal ones keep their order."""
    if dtype[0] == "f":
        x = rng.normal(size=(3, 700)) * 10.0 ** rng.integers(-4, 4, (3, 700))
        x[rng.random(x.shape) < 0.2] = rng.choice([0.0, -0.0, 1.5, np.inf, -np.inf])
        x[:, 40:60] = rng.permutation([0.0, -0.0] * 10)
    else:
        limits = np.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, (3, 700), dtype, endpoint=True)
        x >>= rng.integers(0, limits.bits - 1, x.shape).astype(dtype)
    x = x.astype(dtype)
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    positions = np.argsort(-ranks if largest else ranks, axis=1, kind="stable")
    wanted = [np.take_along_axis(x, positions, 1), positions]
    agrees("TopK", {"x": x, "k": np.array([700])}, 2, wanted=wanted, constants=["k"], rtol=0, largest=largest)


@pytest.mark.parametrize("threads", [1, 3])
def test_symbolic_rows_and_sizes(rng: np.random.Generator, threads: int) -> None:
    nodes = [node("TopK", "x k", "v i", axis=1), node("CumSum", "x axis", "s")]
    weights = {"k": np.array([5]), "axis": np.array(1)}
    model = graph(nodes, {"x": ["rows", "size"]}, ["v", "i", "s"], weights, types={"x": TensorProto.FLOAT})
    net = mlc.compile(model, threads=threads)
    for rows, size in ((1, 5), (7, 6), (4, 900)):
        x = rng.normal(size=(rows, size)).astype("f4")
        values, positions, sums = net(x)
        wanted = np.argsort(-x, kind="stable")[:, :5]
        np.testing.assert_array_equal(positions, wanted)
        np.testing.assert_array_equal(values, np.take_along_axis(x, wanted, 1))
        np.testing.assert_allclose(sums, np.cumsum(x, 1, dtype="f8"), rtol=1e-5, atol=1e-5)
    with pytest.raises(mlc.MlcError, match="size >= 5"):
        net(np.zeros((2, 4), "f4"))


@pytest.mark.parametrize("flags", [{}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}])
@pytest.mark.parametrize(("shape", "axis"), [((2000,), 0), ((3, 50), 1), ((50, 131), 0), ((2, 9, 17), 1), ((0, 4), 1)])
def test_cum_sum(rng: np.random.Generator, shape: tuple[int, ...], axis: int, flags: dict[str, Any]) -> None:
    x = rng.normal(size=shape)
    agrees("CumSum", {"x": x, "axis": np.array(axis)}, constants=["axis"], rtol=1e-9, **flags)
    whole = rng.integers(-1000, 1000, shape).astype("i4")
    agrees("CumSum", {"x": whole, "axis": np.array(axis)}, constants=["axis"], rtol=0, **flags)


def test_sums_of_many_floats_are_as_near_as_one_rounding(rng: np.random.Generator) -> None:
    x = rng.uniform(0, 1, 100_000).astype("f4")
    y = mlc.compile(single("CumSum", {"x": x, "axis": np.array(0)}, constants=["axis"]))(x)
    np.testing.assert_allclose(y, np.cumsum(x, dtype="f8"), rtol=2**-23)


def test_cum_prod(rng: np.random.Generator) -> None:
    x = rng.uniform(0.5, 2, (3, 20)).astype("f4")
    wanted = np.cumprod(x[:, ::-1], 1, dtype="f8")[:, ::-1]
    agrees(
        "CumProd",
        {"x": x, "axis": np.array(1)},
        wanted=[wanted.astype("f4")],
        version=26,
        constants=["axis"],
        reverse=1,
    )
