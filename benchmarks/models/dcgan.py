"""The generator of DCGAN (Radford et al. 2015, arXiv 1511.06434)."""

from __future__ import annotations

import math

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import RELU_GAIN

WIDTHS = (512, 256, 128, 64)
KERNEL = 4


def _upsample(b: Builder, x: str, n_in: int, n_out: int, stride: int, gain: float, name: str) -> str:
    """A transposed convolution with 4×4 kernels: of stride 2 it doubles height and width, of 1 it makes 4×4 of 1×1."""
    terms = n_in * (KERNEL // stride if stride > 1 else 1) ** 2  # that add up in one output element
    with b.scope(name):
        weight = b.weight("weight", (n_in, n_out, KERNEL, KERNEL), gain / math.sqrt(terms))
        window = {"kernel_shape": [KERNEL] * 2, "strides": [stride] * 2, "pads": [stride - 1] * 4}
        return b.op("ConvTranspose", x, weight, b.weight("bias", (n_out,), 0.1), **window)


def dcgan(
    batch: Dim = 1, latent: int = 100, widths: tuple[int, ...] = WIDTHS, colors: int = 3, seed: int = 0
) -> onnx.ModelProto:
    """z [batch, latent] → image [batch, colors, side, side], side = 4 · 2^len(widths); 0.2 GFLOP."""
    b = Builder("dcgan", seed)
    x, channels = b.reshape(b.input("z", [batch, latent]), batch, latent, 1, 1), latent
    for i, width in enumerate(widths):
        gain = RELU_GAIN if i else 1.0
        x = b.op("Relu", _upsample(b, x, channels, width, 2 if i else 1, gain, f"main.{i}"))
        channels = width
    x = b.op("Tanh", _upsample(b, x, channels, colors, 2, 0.5, "out"))
    side = KERNEL << len(widths)
    b.output(x, "image", [batch, colors, side, side])
    return b.model()
