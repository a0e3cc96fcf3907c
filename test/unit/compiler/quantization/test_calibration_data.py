"""Calibration data as a user gives it: arrays, files, labels, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from quantizable import drawn, made, node, products, samples

import mlc
from mlc.quantization.samples import samples_of


def one(shape: list[int | str]) -> Any:
    return made([node("MatMul", ["x", "w"], ["y"], "only")], {"w": drawn(np.random.default_rng(), 4, 3)}, shape)


@pytest.mark.parametrize("shape, given, batches", [
    (["n", 4], (35, 4), [(16, 4), (16, 4), (3, 4)]),
    ([2, 4], (6, 4), [(2, 4)] * 3),
    ([2, 4], (5, 2, 4), [(2, 4)] * 5),
    (["n", 4], (3, 5, 4), [(5, 4)] * 3),
    ([1, 4], (2, 4), [(1, 4)] * 2),
])  # fmt: skip
def test_batches(shape: list[int | str], given: tuple[int, ...], batches: list[tuple[int, ...]]) -> None:
    """Samples are along the first axis; with one axis more, each is what the model takes."""
    data = np.arange(np.prod(given), dtype=np.float32).reshape(given)
    found = samples_of(one(shape), {"x": data}).batches
    assert [each["x"].shape for each in found] == batches
    assert np.array_equal(np.concatenate([each["x"].ravel() for each in found]), data.ravel())


def test_an_extent_of_another_axis_counts_no_samples() -> None:
    """The first axis is a sequence, whose length another input has too: the array is one sample."""
    model = one(["length", 4])
    model.graph.input.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1, "length"]))
    data = {"x": np.ones((40, 4), np.float32), "mask": np.ones((1, 40), np.float32)}
    assert [each["x"].shape for each in samples_of(model, data).batches] == [(40, 4)]


def test_what_all_samples_share() -> None:
    model = one(["n", 4])
    model.graph.input.append(helper.make_tensor_value_info("scale", TensorProto.FLOAT, []))
    found = samples_of(model, {"x": np.ones((32, 4), np.float64), "scale": np.float32(3)}).batches
    assert len(found) == 2 and all(each["scale"] == 3 and each["x"].dtype == np.float32 for each in found)


def test_files(tmp_path: Path) -> None:
    """Several archives of other extents, with labels; one array for a model of one input."""
    model = one(["n", 4])
    for number, count in enumerate((3, 20)):
        np.savez(tmp_path / f"{number}.npz", x=np.ones((count, 4), np.float32), labels=np.zeros(count, int))
    found = samples_of(model, [tmp_path / "0.npz", tmp_path / "1.npz"])
    assert found.labels is not None
    assert [len(each) for each in found.labels] == [len(each["x"]) for each in found.batches] == [3, 16, 4]
    np.save(tmp_path / "x.npy", np.ones((5, 4), np.float32))
    assert len(samples_of(model, tmp_path / "x.npy").batches[0]["x"]) == 5
    assert len(samples_of(model, np.ones((5, 4), np.float32)).batches[0]["x"]) == 5


X = np.ones((4, 4), np.float32)
NOT_A_NUMBER = np.where(np.eye(4) * np.arange(4) == 2, np.nan, X).astype(np.float32)
WRONG = {
    "no samples": ({"x": X[:0]}, "no samples"),
    "nothing": ([], "no samples"),
    "a name": ({"X": X}, "'X' in the calibration data names no input.*Did you mean 'x'"),
    "no input": ({"labels": X}, "no array of input x"),
    "NaN": ({"x": NOT_A_NUMBER}, "input 'x' has NaN or infinities, the first in sample 2"),
    "infinities": ({"x": X * np.float32("inf")}, "NaN or infinities"),
    "a type": ({"x": X.astype(int)}, "is int64, and the model takes float32"),
    "a rank": ({"x": X[0]}, r"has the shape \(4,\), and the model takes \(n, 4\)"),
    "a shape": ({"x": X[:, :3]}, r"has samples of \(.*3\), and the model takes \(n, 4\)"),
    "labels": ({"x": X, "labels": np.zeros(3, int)}, "3 labels for 4 samples"),
    "other labels": ({"x": X, "labels": np.zeros((4, 7), np.float32)}, "labels do not fit the first output"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data(name: str) -> None:
    data, message = WRONG[name]
    with pytest.raises(mlc.InputError, match=message):
        mlc.quantize(one(["n", 4]), data)


def test_a_number_of_samples_that_a_fixed_batch_does_not_divide() -> None:
    with pytest.raises(mlc.InputError, match="has 5 samples, and the model takes 2 at a time. Give a multiple of 2"):
        mlc.quantize(one([2, 4]), {"x": np.ones((5, 4), np.float32)})


def test_infinities_on_the_way() -> None:
    """The data are finite; an activation is not."""
    weights = {"w": drawn(np.random.default_rng(), 4, 4)}
    model = made([node("Exp", ["x"], ["e"]), node("MatMul", ["e", "w"], ["y"])], weights, ["n", 4])
    with pytest.raises(mlc.InputError, match="Tensor 'e' has NaN or infinities in batch 0.*--exclude"):
        mlc.quantize(model, {"x": np.full((2, 4), 1000, np.float32)})


def test_a_weight_that_is_not_a_number() -> None:
    model = made([node("MatMul", ["x", "w"], ["y"], "bad")], {"w": np.full((4, 4), np.nan, np.float32)}, ["n", 4])
    with pytest.raises(mlc.InputError, match=r"The weight 'w' has NaN.*node 'bad'.*--exclude bad"):
        mlc.quantize(model, mode="dynamic")


def test_wrong_options() -> None:
    model = products(np.random.default_rng())
    data = samples(np.random.default_rng(), model, 4)
    for options, message in (
        ({"mode": "int8"}, "no mode 'int8'. Give one of static, dynamic"),
        ({"calibration": "max"}, "no calibration 'max'"),
        ({"percentile": 0}, "percentile is 0"),
        ({"block": 24}, "block of 24 weights is not allowed"),
        ({"exclude": ["Up"]}, "no node 'Up' to exclude. Did you mean 'up'"),
        ({"exclude": "up"}, "exclude is a string"),
        ({"calibrate": "mse"}, "no option 'calibrate'. Did you mean calibration"),
        ({"max_error": -1.0}, "max_error is -1.0"),
        ({"low_rank": 1.5}, "low_rank is 1.5"),
        ({"prune": "half"}, "'half' is no share"),
        ({"prune": "4:2"}, "must be from 1 to 1"),
        ({"exclude": ["up", "down", "mix"]}, "no layer that becomes static: excluded"),
    ):
        with pytest.raises(mlc.InputError, match=message):
            mlc.quantize(model, data, **options)  # type: ignore[arg-type]
    with pytest.raises(mlc.InputError, match="Static quantization needs calibration data"):
        mlc.quantize(model)
    with pytest.raises(mlc.InputError, match="sensitivity of layers needs calibration data"):
        mlc.quantize(model, mode="dynamic", keep_f32_worst=1)


def test_a_model_without_layers() -> None:
    with pytest.raises(mlc.InputError, match="no Conv, Gemm or MatMul has a constant weight"):
        mlc.quantize(made([node("Relu", ["x"], ["y"])], {}, ["n", 4]), {"x": X})


def test_a_model_that_is_quantized_already() -> None:
    model = one(["n", 4])
    twice = mlc.quantize(model, {"x": X}).model
    with pytest.raises(mlc.InputError, match="no Conv, Gemm or MatMul has a constant weight"):
        mlc.quantize(twice, {"x": X})
