"""Convolutions of random shapes on the CUDA target, emulated on the CPU, against onnxruntime; their derivatives against
the CPU target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from emulator import needed
from fake_gpu import Gpu
from launcher import Program
from test_cuda_operators import compare, feed_of, model_of, scheduled, tf32

import mlc
from mlc.dialects.poly import schedule_of

pytestmark = needed
TARGET = "cuda"


def drawn(groups: int, transposed: bool = False) -> onnx.ModelProto:
    """A convolution of random odd extents, strides, dilations and borders, and its bias."""
    random = np.random.default_rng()
    n, c, f = (int(random.integers(low, high)) for low, high in ((1, 4), (3, 9), (17, 40)))
    h, w = (int(x) for x in random.integers(11, 20, 2))
    ky, kx = (int(x) for x in random.integers(1, 5, 2))
    strides, dilations = (random.integers(1, 4, 2).tolist() for _ in range(2))
    pads = random.integers(0, 3, 4).tolist()
    weights = (c * groups, f, ky, kx) if transposed else (f * groups, c, ky, kx)
    name = "ConvTranspose" if transposed else "Conv"
    settings = f"strides = {strides}, dilations = {dilations}, pads = {pads}, group = {groups}"
    shape, kernel = f"{n},{c * groups},{h},{w}", ",".join(map(str, weights))
    text = f"(float[{shape}] x, float[{kernel}] w, float[{f * groups}] b) => (float[n,f,p,q] y) "
    return model_of(text + f"{{ c = {name} <{settings}> (x, w, b)  y = Relu (c) }}")


@pytest.mark.parametrize("groups", [1, 1, 1, 3])
def test_convolution(groups: int, units: Path) -> None:
    model = drawn(groups)
    compare(model, units, feed_of(model))


def test_transposed_convolution(units: Path) -> None:
    model = drawn(1, transposed=True)
    compare(model, units, feed_of(model))


@pytest.mark.parametrize("window", [1, 3])
def test_convolution_on_tensor_cores(window: int, units: Path) -> None:
    """Tiles cross rows and images. With factors that TF32 holds, products agree as those of f32 do."""
    text = f"(float[3,19,23,29] x, float[70,19,{window},{window}] w) => (float[3,70,p,q] y) "
    model = model_of(text + "{ y = Conv <strides = [2,2]> (x, w) }")
    feed = {name: tf32(value) for name, value in feed_of(model).items()}
    schedule = scheduled(model, units, "{m}/64p {n}/64vp")
    program = Program.of(model, units, schedule=schedule, numerics="relaxed")
    assert any("mlc_mma_" in text for text in program.kernels.strings.values())
    compare(model, units, feed, schedule=schedule, numerics="relaxed")


def test_a_convolution_is_one_product_whose_operands_are_staged(units: Path) -> None:
    """One iterator each for pixels and for terms; the image passes through shared memory."""
    model = model_of("(float[2,16,9,7] x, float[33,16,3,3] w) => (float[2,33,7,5] y) { y = Conv (x, w) }")
    program = Program.of(model, units)
    ((name, fn),) = program.functions.items()
    assert str(schedule_of(fn)[0]).endswith("| c_k0_k1")
    assert program.kernels.strings[program.kernels.symbols[name]].count("__shared__") == 2


def test_derivatives_of_a_convolution(gpu: Gpu) -> None:
    import mlc.numpy as mnp
    from mlc import nn

    def loss(x: Any, w: Any) -> Any:
        y = nn.conv(x, w, strides=2, padding=1, dilations=(1, 2))
        return mnp.sum(y * y * y)

    random = np.random.default_rng()
    x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((2, 5, 13, 15), (18, 5, 3, 2)))
    gradient = mlc.grad(loss, argnums=(0, 1))
    jitted = mlc.jit(gradient, target=TARGET, wait=True)
    for found, wanted in zip(jitted(x, w), mlc.jit(gradient, wait=True)(x, w), strict=True):
        wanted = np.asarray(wanted)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
    for traced in jitted.programs.values():
        traced.model.close()


@pytest.mark.parametrize("stride, band", [(1, "g/2p y0/8p y1/21vp"), (2, "g y0/4p y1/9vp"), (1, "g/3p y0/6p y1/21vp")])
def test_rows_of_a_depthwise_convolution_in_one_thread(stride: int, band: str, units: Path) -> None:
    """Tiles that divide the rows and tiles that do not; threads beyond the last pixel of a row are idle."""
    rows, pixels = (16 - 1) * stride + 3, (21 - 1) * stride + 3 if stride == 1 else 19
    text = f"(float[1,5,{rows},{pixels}] x, float[5,1,3,3] w) => (float[1,5,p,q] y) "
    model = model_of(text + f"{{ c = Conv <group = 5, strides = [{stride},{stride}]> (x, w)  y = Relu (c) }}")
    schedule = f"conv_0: window: S0 S1 | {band} | k0 k1\n"
    compare(model, units, feed_of(model), schedule=schedule)
