"""U-Net (Ronneberger et al. 2015, arXiv 1505.04597) with padded convolutions."""

from __future__ import annotations

import math

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import conv, conv_relu, max_pool


def _double(b: Builder, x: str, n_in: int, n_out: int, name: str) -> str:
    with b.scope(name):
        x = conv_relu(b, x, (n_in, n_out), 3, name="conv1")
        return conv_relu(b, x, (n_out, n_out), 3, name="conv2")


def _upsample(b: Builder, x: str, n_in: int, n_out: int, name: str) -> str:
    with b.scope(name):
        weight = b.weight("weight", (n_in, n_out, 2, 2), 1.0 / math.sqrt(n_in))
        return b.op("ConvTranspose", x, weight, b.weight("bias", (n_out,), 0.1), kernel_shape=[2, 2], strides=[2, 2])


def unet(
    batch: Dim = 1, image: int = 256, width: int = 16, depth: int = 4, classes: int = 2, seed: int = 0
) -> onnx.ModelProto:
    """input [batch, 3, image, image] → logits [batch, classes, image, image]; image % 2^depth = 0; 6.1 GFLOP."""
    b = Builder("unet", seed)
    x = _double(b, b.input("input", [batch, 3, image, image]), 3, width, "down0")
    skips = []
    for level in range(depth):
        skips.append(x)
        x = _double(b, max_pool(b, x, 2, 2), width << level, width << (level + 1), f"down{level + 1}")
    for level in reversed(range(depth)):
        n_out = width << level
        x = b.op("Concat", skips[level], _upsample(b, x, 2 * n_out, n_out, f"up{level}.upsample"), axis=1)
        x = _double(b, x, 2 * n_out, n_out, f"up{level}")
    b.output(conv(b, x, (width, classes), 1, gain=1.0, name="out"), "logits", [batch, classes, image, image])
    return b.model()
