"""Winograd's transforms and products in one kernel, a row of tiles at a time: against onnxruntime, for any threads."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from onnx import ModelProto, numpy_helper

import mlc
from mlc import target as targets
from mlc.cli import main
from mlc.runtime.sealed import read_signature

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[BATCH, CHANNELS, HEIGHT, WIDTH] x) => (float[BATCH, P, Q, R] y) { NODES }
"""
PLAIN = "y = Conv <pads = [1, 1, 1, 1]> (x, w)"
BIAS = "y = Conv <pads = [1, 1, 1, 1]> (x, w, b)"
RELU = "c = Conv <pads = [1, 1, 1, 1]> (x, w, b) y = Relu (c)"
RESIDUAL = "c = Conv <pads = [1, 1, 1, 1]> (x, w, b) s = Add (c, x) y = Relu (s)"
TWICE = "c = Conv <pads = [1, 1, 1, 1]> (x, w, b) r = Relu (c) y = Conv <pads = [1, 1, 1, 1]> (r, w, b)"
TOLERANCE = 5e-5  # of the largest value


def build(nodes: str, shape: tuple[int, int, int, int], filters: int = 0) -> tuple[ModelProto, np.ndarray]:
    """A model of convolutions of ``shape`` by weights ``w`` and ``v`` of ``filters`` (as many as channels), and an
    input."""
    text = MODEL.replace("NODES", nodes)
    for name, extent in zip(("BATCH", "CHANNELS", "HEIGHT", "WIDTH"), shape, strict=True):
        text = text.replace(name, str(extent))
    model, random = onnx.parser.parse_model(text), np.random.default_rng(shape[2] + shape[3])
    filters = filters or shape[1]
    taps = (filters, shape[1], 3, 3)
    for name, size in (("w", taps), ("b", (filters,)), *([("v", taps)] if ", v)" in nodes else [])):
        array = (random.standard_normal(size) / 17).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model, random.standard_normal(shape).astype(np.float32)


def fused(signature: dict[str, Any]) -> int:
    """How many kernels run their nests block by block."""
    return sum(" & " in kernel["schedule"] for kernel in signature["kernels"])


def elsewhere(model: ModelProto, target: str) -> dict[str, Any]:
    """The signature of an artifact that this CPU may not run."""
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/net.onnx")
        with pytest.raises(SystemExit, match="^0$"):
            main(["-q", "compile", f"{folder}/net.onnx", "-o", f"{folder}/net.so", "--target", target])
        return read_signature(Path(folder, "net.so"))


def check(nodes: str, shape: tuple[int, int, int, int], expected: int, filters: int = 0, target: str = "cpu") -> None:
    """Compiled for 1, 2 and 4 threads: the same bits, near onnxruntime's; ``expected`` kernels are fused. For another
    CPU than this one only the number of kernels is checked."""
    model, x = build(nodes, shape, filters)
    if not set(targets.get(target).features) <= set(targets.get("cpu").features):
        assert fused(elsewhere(model, target)) == expected
        return
    reference = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    nets = [mlc.compile(model, threads=threads, target=target) for threads in (1, 2, 4)]
    first, *others = (net(x) for net in nets)
    assert [fused(net.signature) for net in nets] == [expected] * 3
    np.testing.assert_allclose(first, reference, rtol=0, atol=TOLERANCE * np.abs(reference).max())
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize(("width", "expected"), [(256, 1), (512, 0)])
def test_wide_images(width: int, expected: int) -> None:
    """A row of tiles, and the pixels that become it, fit on the stack, or the transforms are kernels of their own."""
    check(PLAIN, (1, 32, 32, width), expected, filters=16, target="x86-64-v4")


@pytest.mark.parametrize("nodes", [PLAIN, BIAS, RELU, RESIDUAL], ids=["plain", "bias", "relu", "residual"])
@pytest.mark.parametrize(("height", "width"), [(32, 32), (36, 12), (64, 20)])
def test_operators_after_it(nodes: str, height: int, width: int) -> None:
    check(nodes, (1, 32, height, width), 1)


@pytest.mark.parametrize(("channels", "filters"), [(16, 48), (48, 16), (20, 40), (64, 64)])
def test_other_numbers_of_channels_and_filters(channels: int, filters: int) -> None:
    check(RELU, (1, channels, 40, 24), 1, filters, "x86-64-v3:l2=1M")  # whatever caches this machine has


def test_images_of_a_batch() -> None:
    check(RESIDUAL, (3, 32, 16, 20), 1)


def test_half_as_many_lanes_and_registers() -> None:
    check(RELU, (1, 32, 36, 12), 1, target="x86-64-v3")


def test_two_in_sequence() -> None:
    check(TWICE, (1, 32, 32, 40), 2)


def test_two_of_the_same_tiles_of_which_one_needs_what_the_other_gives() -> None:
    pool = "m = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (c)"
    nodes = f"c = Conv <pads = [1, 1, 1, 1]> (x, w) {pool} d = Conv <pads = [1, 1, 1, 1]> (x, v) y = Add (d, m)"
    check(nodes, (1, 32, 32, 32), 2)


@pytest.mark.parametrize(
    "shape",
    [(1, 32, 33, 32), (1, 32, 32, 31), (1, 32, 12, 12), (1, 64, 128, 128)],
    ids=["a cut row", "a cut column", "few rows", "a long row"],
)
def test_what_is_not_fused(shape: tuple[int, int, int, int]) -> None:
    check(RELU, shape, 0)
