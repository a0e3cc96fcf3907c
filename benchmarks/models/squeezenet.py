"""SqueezeNet 1.1 (Iandola et al. 2016, arXiv 1602.07360)."""

from __future__ import annotations

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import conv_relu, max_pool

# squeeze and expand channels of the fire modules between the pools
FIRES = (((16, 64), (16, 64)), ((32, 128), (32, 128)), ((48, 192), (48, 192), (64, 256), (64, 256)))


def _fire(b: Builder, x: str, channels: int, squeeze: int, expand: int) -> str:
    x = conv_relu(b, x, (channels, squeeze), 1, name="squeeze")
    narrow = conv_relu(b, x, (squeeze, expand), 1, name="expand1x1")
    wide = conv_relu(b, x, (squeeze, expand), 3, name="expand3x3")
    return b.op("Concat", narrow, wide, axis=1)


def squeezenet(
    batch: Dim = 1, image: int = 224, fires: tuple[tuple[tuple[int, int], ...], ...] = FIRES, stem: int = 64,
    classes: int = 1000, seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input [batch, 3, image, image] → logits [batch, classes]; 0.7 GFLOP."""
    b = Builder("squeezenet", seed)
    x = b.input("input", [batch, 3, image, image])
    x = conv_relu(b, x, (3, stem), 3, stride=2, padding=0, name="stem")
    channels = stem
    for stage, modules in enumerate(fires):
        x = max_pool(b, x, 3, 2, ceil=True)
        for i, (squeeze, expand) in enumerate(modules):
            with b.scope(f"fire{stage}"), b.scope(str(i)):
                x = _fire(b, x, channels, squeeze, expand)
            channels = 2 * expand
    x = conv_relu(b, x, (channels, classes), 1, name="classifier")
    b.output(b.op("Flatten", b.op("GlobalAveragePool", x), axis=1), "logits", [batch, classes])
    return b.model()
