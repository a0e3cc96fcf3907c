"""MobileNet-V2 (Sandler et al. 2018, arXiv 1801.04381)."""

from __future__ import annotations

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import conv, gemm

# expansion, channels, repeats, stride of the first: table 2 of the paper
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
PROJECT_GAIN = 1.0


def conv_relu6(b: Builder, x: str, channels: tuple[int, int], kernel: int, **options: object) -> str:
    """A convolution followed by Relu6, which is exported as Clip."""
    y = conv(b, x, channels, kernel, **options)  # type: ignore[arg-type]
    return b.op("Clip", y, b.constant(0.0), b.constant(6.0))


def _inverted_residual(b: Builder, x: str, n_in: int, n_out: int, expansion: int, stride: int) -> str:
    hidden = n_in * expansion
    y = x
    if expansion != 1:
        y = conv_relu6(b, y, (n_in, hidden), 1, name="expand")
    y = conv_relu6(b, y, (hidden, hidden), 3, stride=stride, groups=hidden, name="depthwise")
    y = conv(b, y, (hidden, n_out), 1, gain=PROJECT_GAIN, name="project")
    return b.op("Add", x, y) if stride == 1 and n_in == n_out else y


def mobilenet_v2(
    batch: Dim = 1, image: int = 224, stages: tuple[tuple[int, ...], ...] = STAGES, stem: int = 32, head: int = 1280,
    classes: int = 1000, seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input [batch, 3, image, image] → logits [batch, classes]; 0.6 GFLOP."""
    b = Builder("mobilenet_v2", seed)
    x = b.input("input", [batch, 3, image, image])
    x = conv_relu6(b, x, (3, stem), 3, stride=2, name="stem")
    channels = stem
    for stage, (expansion, width, repeats, stride) in enumerate(stages):
        for i in range(repeats):
            with b.scope(f"features.{stage}"), b.scope(str(i)):
                x = _inverted_residual(b, x, channels, width, expansion, 1 if i else stride)
            channels = width
    x = conv_relu6(b, x, (channels, head), 1, name="head")
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    b.output(gemm(b, x, head, classes, "classifier"), "logits", [batch, classes])
    return b.model()
