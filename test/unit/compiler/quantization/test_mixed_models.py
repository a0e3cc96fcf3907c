"""Layers left in f32 by sensitivity, pruned and factorized weights, accuracy and reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from quantizable import by_onnxruntime, checked, convolutions, drawn, made, node, products, samples, sqnr

import mlc
from mlc.cli import main
from mlc.errors import InputError
from mlc.quantization.low_rank import factors

RANDOM = np.random.default_rng


@pytest.fixture
def uneven() -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Two layers of which the second costs most: one channel of its operand is a hundred times the others."""
    random = RANDOM()
    scale = np.ones(16, np.float32)
    scale[3] = 100
    nodes = [
        node("MatMul", ["x", "w"], ["a"], "easy"),
        node("Mul", ["a", "s"], ["b"]),
        node("MatMul", ["b", "v"], ["c"], "hard"),
        node("MatMul", ["c", "u"], ["y"], "last"),
    ]
    weights = {"w": drawn(random, 16, 16), "s": scale, "v": drawn(random, 16, 16), "u": drawn(random, 16, 16)}
    weights["v"][3] = 1e-3
    model = made(nodes, weights, ["n", 16])
    return model, samples(random, model, 40)


@pytest.mark.parametrize("mode", ["static", "dynamic", "weights4"])
def test_the_worst_layer_stays_in_floats(uneven: tuple[onnx.ModelProto, dict[str, np.ndarray]], mode: str) -> None:
    model, data = uneven
    plain = by_onnxruntime(model, data)[0]
    whole = mlc.quantize(model, data, mode=mode)
    mixed = mlc.quantize(model, data, mode=mode, keep_f32_worst=1)
    kept = [layer for layer in mixed.report.layers if layer.form == "f32"]
    sensitivity = {layer.name: layer.sensitivity or 0 for layer in mixed.report.layers}
    assert [layer.name for layer in kept] == [max(sensitivity, key=lambda name: sensitivity[name])]
    assert kept[0].name == "hard" or mode == "weights4"
    assert sqnr(plain, checked(mixed, data)) > sqnr(plain, checked(whole, data))


def test_sensitivity_is_what_quantizing_one_layer_costs() -> None:
    """Measured on one model with switches, and here on files that have one layer quantized each, in which a sum reads
    the bytes of that layer's operand too.
    """
    random = RANDOM()
    model = convolutions(random)
    data = samples(random, model, 16)
    names = ["first", "grouped", "transposed", "classifier"]
    report = mlc.quantize(model, data, keep_f32_worst=1).report
    plain = by_onnxruntime(model, data)[0]
    for layer in report.layers:
        alone = mlc.quantize(model, data, exclude=[name for name in names if name != layer.name])
        found = by_onnxruntime(alone.model, data)[0]
        assert layer.sensitivity == pytest.approx(np.linalg.norm(found - plain) / np.linalg.norm(plain), rel=0.3)


def test_a_bound_of_the_error(uneven: tuple[onnx.ModelProto, dict[str, np.ndarray]]) -> None:
    """As few layers as it takes are left in f32."""
    model, data = uneven
    plain = by_onnxruntime(model, data)[0]

    def apart(made: mlc.quantization.Quantized) -> float:
        return float(np.linalg.norm(by_onnxruntime(made.model, data)[0] - plain) / np.linalg.norm(plain))

    whole = apart(mlc.quantize(model, data))
    for limit, layers in ((whole * 1.1, {3}), (whole / 2, {1, 2}), (1e-9, {0})):
        mixed = mlc.quantize(model, data, max_error=limit)
        assert apart(mixed) <= 1.05 * limit + 1e-6
        assert len(mixed.report.quantized) in layers


def test_a_bound_of_the_error_counts_what_pruning_costs(
    uneven: tuple[onnx.ModelProto, dict[str, np.ndarray]],
) -> None:
    model, data = uneven
    plain = by_onnxruntime(model, data)[0]

    def apart(**options: Any) -> float:
        found = by_onnxruntime(mlc.quantize(model, data, prune="0.3", **options).model, data)[0]
        return float(np.linalg.norm(found - plain) / np.linalg.norm(plain))

    pruned = apart(mode="none")
    assert apart(max_error=1.02 * pruned) <= 1.05 * 1.02 * pruned
    with pytest.raises(InputError, match="pruning and factorization alone change them by"):
        mlc.quantize(model, data, prune="0.3", max_error=0.9 * pruned)


@pytest.mark.parametrize("how, zeros", [("0.5", 0.5), ("2:4", 0.5), ("1:4", 0.75)])
def test_pruned_weights(how: str, zeros: float) -> None:
    random = RANDOM()
    model = products(random)
    data = samples(random, model, 8)
    pruned = mlc.quantize(model, data, mode="none", prune=how, exclude=["mix"])
    checked(pruned, data)
    arrays = {t.name: numpy_helper.to_array(t) for t in pruned.model.graph.initializer}
    plain = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for name in ("w", "w2"):
        assert np.mean(arrays[name] == 0) == pytest.approx(zeros, abs=0.01)
        assert np.abs(plain[name][arrays[name] == 0]).mean() < np.abs(plain[name][arrays[name] != 0]).mean()
        kept = arrays[name] != 0
        assert np.array_equal(arrays[name][kept], plain[name][kept])
        if ":" in how:
            assert (kept.reshape(-1, 4, kept.shape[1]).sum(1) == int(how[0])).all()
    assert np.array_equal(arrays["left"], plain["left"])


def test_convolutions_are_pruned_along_the_sum() -> None:
    random = RANDOM()
    model = made([node("Conv", ["x", "w"], ["y"], "one")], {"w": drawn(random, 6, 8, 3, 3)}, ["n", 8, 5, 5])
    pruned = mlc.quantize(model, samples(random, model, 2), prune="2:4")
    w = next(t for t in pruned.model.graph.initializer if len(t.dims) == 4)
    assert ((numpy_helper.to_array(w) != 0).reshape(6, 2, 4, 3, 3).sum(2) <= 2).all()


def test_channels_are_removed() -> None:
    """Filters of zeros are the first to go, and nothing changes: through ReLU, pooling and Flatten into a product."""
    random = RANDOM()
    weights = {"w": drawn(random, 8, 3, 3, 3), "b": drawn(random, 8), "v": drawn(random, 8, 8, 3, 3)}
    weights |= {"c": drawn(random, 8), "u": drawn(random, 32, 5), "d": drawn(random, 5)}
    for weight, bias in (("w", "b"), ("v", "c")):
        weights[weight][[1, 6]] = 0
        weights[bias][[1, 6]] = 0
    nodes = [
        node("Conv", ["x", "w", "b"], ["a"], "one", pads=[1] * 4),
        node("Relu", ["a"], ["r"]),
        node("Conv", ["r", "v", "c"], ["e"], "two", pads=[1] * 4),
        node("MaxPool", ["e"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", ["p"], ["f"]),
        node("Gemm", ["f", "u", "d"], ["y"], "three"),
    ]
    model = made(nodes, weights, ["n", 3, 4, 4])
    data = samples(random, model, 6)
    pruned = mlc.quantize(model, data, mode="none", prune="channels:0.25")
    np.testing.assert_allclose(checked(pruned, data), by_onnxruntime(model, data)[0], rtol=1e-4, atol=1e-5)
    shapes = {t.name: list(t.dims) for t in pruned.model.graph.initializer}
    assert [shapes[name] for name in "wbvcu"] == [[6, 3, 3, 3], [6], [6, 6, 3, 3], [6], [24, 5]]
    both = mlc.quantize(model, data, prune="channels:0.25")
    assert sqnr(by_onnxruntime(model, data)[0], checked(both, data)) > 25


def test_channels_that_others_read_stay() -> None:
    random = RANDOM()
    model = convolutions(random)
    data = samples(random, model, 4)
    pruned = mlc.quantize(model, data, mode="none", prune="channels:0.5")
    assert sqnr(by_onnxruntime(model, data)[0], checked(pruned, data)) > 100
    assert all("more than one" in layer.why or "no channels" in layer.why for layer in pruned.report.layers)


def test_low_rank() -> None:
    """Weights of rank 3 become two factors without a loss, of products, convolutions and Gemm with its bias."""
    random = RANDOM()
    thin = drawn(random, 32, 3) @ drawn(random, 3, 32)
    filters = (drawn(random, 32, 3) @ drawn(random, 3, 8 * 9)).reshape(32, 8, 3, 3)
    nodes = [
        node("Conv", ["x", "f", "b"], ["a"], "conv", pads=[1] * 4, strides=[2, 2]),
        node("GlobalAveragePool", ["a"], ["g"]),
        node("Flatten", ["g"], ["h"]),
        node("MatMul", ["h", "w"], ["i"], "product"),
        node("Gemm", ["i", "w", "b"], ["y"], "gemm", transB=1, alpha=0.5, beta=3.0),
    ]
    model = made(nodes, {"f": filters, "w": thin, "b": drawn(random, 32)}, ["n", 8, 9, 9])
    data = samples(random, model, 4)
    small = mlc.quantize(model, data, mode="none", low_rank=0.99999)
    assert sqnr(by_onnxruntime(model, data)[0], checked(small, data)) > 40
    assert {layer.why for layer in small.report.layers if layer.why} == set()
    assert small.report.bytes_after < 0.5 * small.report.bytes_before
    assert all(len(set(t.dims) & {3}) == 1 for t in small.model.graph.initializer if len(t.dims) > 1)


def test_factors_keep_a_share_of_the_squares() -> None:
    weight = RANDOM().standard_normal((12, 20))
    for share in (0.3, 0.9, 1.0):
        left, right = factors(weight, share)
        lost = np.square(weight - left @ right).sum() / np.square(weight).sum()
        assert lost <= 1 - share + 1e-9
        smaller = left[:, :-1] @ right[:-1]
        assert np.square(weight - smaller).sum() / np.square(weight).sum() > 1 - share


def test_accuracy() -> None:
    """Of labels that are the model's own answers, but for one of four; of pixels; of numbers."""
    random = RANDOM()
    model = convolutions(random)
    data = samples(random, model, 20)
    answers = by_onnxruntime(model, data)[0].argmax(1)
    labels = np.where(np.arange(20) % 4, answers, (answers + 1) % 10)
    report = mlc.quantize(model, data | {"labels": labels}).report
    assert report.metric == "accuracy" and report.accuracy is not None
    assert report.accuracy[0] == 0.75 and abs(report.accuracy[1] - 0.75) < 0.2
    pixels = made([node("Conv", ["x", "w"], ["y"])], {"w": drawn(random, 5, 3, 1, 1)}, ["n", 3, 4, 4])
    data = samples(random, pixels, 4)
    wanted = by_onnxruntime(pixels, data)[0]
    assert mlc.quantize(pixels, data | {"target": wanted.argmax(1)}, labels="target").report.accuracy[0] == 1  # type: ignore[index]
    report = mlc.quantize(pixels, data | {"labels": wanted}).report
    assert report.metric == "mean squared error" and report.accuracy[0] < 1e-10 < report.accuracy[1]  # type: ignore[index]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of layers, the file, a report of either form; status 2 for what is wrong, and then no file."""
    monkeypatch.chdir(tmp_path)
    random = RANDOM()
    model = convolutions(random)
    onnx.save(model, "net.onnx")
    data = samples(random, model, 12)
    np.savez("x.npz", **data, labels=by_onnxruntime(model, data)[0].argmax(1))

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            main(["quantize", "net.onnx", *arguments])
        return int(end.value.code or 0), "".join(capsys.readouterr())

    status, text = run("--data", "x.npz", "--report", "r.json", "--exclude", "grouped", "--keep-f32-worst", "1")
    assert status == 0 and "accuracy: 1 -> " in text and "net.static.onnx" in text and "excluded" in text
    assert sqnr(by_onnxruntime(model, data)[0], by_onnxruntime(onnx.load("net.static.onnx"), data)[0]) > 25
    layers = json.loads(Path("r.json").read_text())["layers"]
    assert [layer["name"] for layer in layers] == ["first", "grouped", "transposed", "classifier"]
    assert sum(layer["form"] == "int8" for layer in layers) == 2
    status, text = run("--mode", "dynamic", "-o", "small.onnx", "--report", "r.html")
    assert status == 0 and "weight alone" in text and "<td>first</td>" in Path("r.html").read_text()
    for arguments, message in (
        ((), "needs calibration data"),
        (("--data", "y.npz"), "Cannot read the array y.npz"),
        (("--data", "x.npz", "-o", "net.onnx"), "is the model itself"),
        (("--data", "x.npz", "-o", "none/net.onnx"), "There is no folder 'none'"),
        (("--data", "x.npz", "--report", "r.txt"), "ends in .html or .json"),
        (("--mode", "int8"), "--mode"),
    ):
        status, text = run(*arguments)
        assert status == 2 and message in text, text
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "net.onnx", "net.static.onnx", "r.html", "r.json", "small.onnx", "x.npz"
    ]  # fmt: skip
