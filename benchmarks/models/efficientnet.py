"""EfficientNet-B0 (Tan and Le 2019, arXiv 1905.11946)."""

from __future__ import annotations

import onnx

from benchmarks.models.builder import Builder, Dim
from benchmarks.models.layers import conv, gemm, swish

# expansion, channels, repeats, stride of the first, kernel: table 1 of the paper
STAGES = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
          (6, 320, 1, 1, 3))  # fmt: skip
SQUEEZE = 4  # the squeezed width is the block's input over this
EXPAND_GAIN = 1.2  # more, and activations grow from block to block; the gates amplify rounding errors then
SWISH_GAIN = 1.7  # restores about the variance that a swish leaves of a normal variable
PROJECT_GAIN = 2.0  # undoes the gate, which is about one half


def conv_swish(b: Builder, x: str, channels: tuple[int, int], kernel: int, **options: object) -> str:
    """A convolution followed by x · sigmoid(x)."""
    return swish(b, conv(b, x, channels, kernel, **options))  # type: ignore[arg-type]


def _squeeze_excite(b: Builder, x: str, channels: int, squeezed: int) -> str:
    """Scale each channel by a gate that is computed from the means of all."""
    with b.scope("se"):
        y = conv(b, b.op("GlobalAveragePool", x), (channels, squeezed), 1, gain=1.0, name="reduce")
        gate = conv(b, swish(b, y), (squeezed, channels), 1, gain=1.0, name="expand")
        return b.op("Mul", b.op("Sigmoid", gate), x)


def _block(b: Builder, x: str, n_in: int, n_out: int, expansion: int, stride: int, kernel: int) -> str:
    hidden, y = n_in * expansion, x
    if expansion != 1:
        y = conv_swish(b, y, (n_in, hidden), 1, gain=EXPAND_GAIN, name="expand")
    options = {"stride": stride, "groups": hidden, "gain": SWISH_GAIN}
    y = conv_swish(b, y, (hidden, hidden), kernel, name="depthwise", **options)
    y = _squeeze_excite(b, y, hidden, max(1, n_in // SQUEEZE))
    y = conv(b, y, (hidden, n_out), 1, gain=PROJECT_GAIN, name="project")
    return b.op("Add", y, x) if stride == 1 and n_in == n_out else y


def efficientnet_b0(
    batch: Dim = 1, image: int = 224, stages: tuple[tuple[int, ...], ...] = STAGES, stem: int = 32, head: int = 1280,
    classes: int = 1000, seed: int = 0,
) -> onnx.ModelProto:  # fmt: skip
    """input [batch, 3, image, image] → logits [batch, classes]; 0.8 GFLOP."""
    b = Builder("efficientnet_b0", seed)
    x = b.input("input", [batch, 3, image, image])
    x = conv_swish(b, x, (3, stem), 3, stride=2, gain=1.0, name="stem")
    channels = stem
    for stage, (expansion, width, repeats, stride, kernel) in enumerate(stages):
        for i in range(repeats):
            with b.scope(f"features.{stage}"), b.scope(str(i)):
                x = _block(b, x, channels, width, expansion, 1 if i else stride, kernel)
            channels = width
    x = conv_swish(b, x, (channels, head), 1, gain=1.0, name="head")
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    b.output(gemm(b, x, head, classes, "classifier"), "logits", [batch, classes])
    return b.model()
