"""VGG (Simonyan and Zisserman 2014, arXiv 1409.1556)."""

from __future__ import annotations

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import RELU_GAIN, conv_relu, gemm, max_pool

STAGES = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))


def vgg16(
    batch: Dim = 1, image: int = 224, stages: tuple[tuple[int, ...], ...] = STAGES, hidden: int = 4096,
    classes: int = 1000, seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input [batch, 3, image, image] → logits [batch, classes]; `image` a multiple of 2^stages; 31 GFLOP."""
    b = Builder("vgg16", seed)
    x = b.input("input", [batch, 3, image, image])
    channels = 3
    for stage, widths in enumerate(stages):
        for i, width in enumerate(widths):
            x = conv_relu(b, x, (channels, width), 3, name=f"features.{stage}.{i}")
            channels = width
        x = max_pool(b, x, 2, 2)
    features = channels * (image >> len(stages)) ** 2
    x = b.op("Flatten", x, axis=1)
    x = b.op("Relu", gemm(b, x, features, hidden, "classifier.0", RELU_GAIN))
    x = b.op("Relu", gemm(b, x, hidden, hidden, "classifier.1", RELU_GAIN))
    b.output(gemm(b, x, hidden, classes, "classifier.2"), "logits", [batch, classes])
    return b.model()
