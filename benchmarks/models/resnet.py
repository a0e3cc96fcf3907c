"""ResNet (He et al. 2015, arXiv 1512.03385), with the stride on the 3×3 convolution as torchvision has it."""

from __future__ import annotations

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import conv, conv_relu, gemm, max_pool

BRANCH_GAIN = 0.5  # keeps the sum of many residual branches of order one


def _bottleneck(b: Builder, x: str, n_in: int, width: int, n_out: int, stride: int) -> str:
    y = conv_relu(b, x, (n_in, width), 1, name="conv1")
    y = conv_relu(b, y, (width, width), 3, stride=stride, name="conv2")
    return conv(b, y, (width, n_out), 1, gain=BRANCH_GAIN, name="conv3")


def _basic(b: Builder, x: str, n_in: int, width: int, n_out: int, stride: int) -> str:
    y = conv_relu(b, x, (n_in, width), 3, stride=stride, name="conv1")
    return conv(b, y, (width, n_out), 3, gain=BRANCH_GAIN, name="conv2")


def _block(b: Builder, x: str, n_in: int, width: int, expansion: int, stride: int) -> str:
    n_out = width * expansion
    branch = (_basic if expansion == 1 else _bottleneck)(b, x, n_in, width, n_out, stride)
    if n_in != n_out or stride != 1:
        x = conv(b, x, (n_in, n_out), 1, stride=stride, gain=1.0, name="downsample")
    return b.op("Relu", b.op("Add", branch, x))


def _resnet(
    name: str, expansion: int, batch: Dim, image: int, blocks: tuple[int, ...], width: int, classes: int, seed: int
) -> onnx.ModelProto:
    b = Builder(name, seed)
    x = b.input("input", [batch, 3, image, image])
    x = max_pool(b, conv_relu(b, x, (3, width), 7, stride=2, name="conv1"), 3, 2, padding=1)
    channels = width
    for stage, count in enumerate(blocks):
        for i in range(count):
            with b.scope(f"layer{stage + 1}"), b.scope(str(i)):
                stride = 2 if stage and not i else 1
                x = _block(b, x, channels, width << stage, expansion, stride)
            channels = (width << stage) * expansion
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    b.output(gemm(b, x, channels, classes, "fc"), "logits", [batch, classes])
    return b.model()


def resnet50(
    batch: Dim = 1, image: int = 224, blocks: tuple[int, ...] = (3, 4, 6, 3), width: int = 64, classes: int = 1000,
    seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input [batch, 3, image, image] → logits [batch, classes]; bottleneck blocks, 8.2 GFLOP."""
    return _resnet("resnet50", 4, batch, image, blocks, width, classes, seed)


def resnet18(
    batch: Dim = 1, image: int = 224, blocks: tuple[int, ...] = (2, 2, 2, 2), width: int = 64, classes: int = 1000,
    seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input [batch, 3, image, image] → logits [batch, classes]; basic blocks, 3.6 GFLOP."""
    return _resnet("resnet18", 1, batch, image, blocks, width, classes, seed)
