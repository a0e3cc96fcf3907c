"""DFT, STFT, MelWeightMatrix."""

from __future__ import annotations

from mlc.dialects.graph.sizes import sizes_of
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.ops.signal import fourier, mel
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.reading.types import element_of_onnx


@onnx_op("DFT", since=17)
def dft(node: Node) -> Tensor:
    """From opset 20 on the axis is an input."""
    _check_parts(node[0])
    axis = node.runtime_scalar(2, -2) if node.opset >= 20 else node.attr("axis", 1)
    length = node.dims(1)[0] if node.has(1) else None
    if isinstance(axis, int) and axis in (-1, node[0].rank - 1):
        raise NotSupported(f"axis {axis} of {node[0]}: the last dimension holds real and imaginary parts")
    inverse, onesided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    return fourier.dft(node.build, node[0], axis, length, inverse, onesided)


@onnx_op("STFT", since=17)
def stft(node: Node) -> Tensor:
    """Signals [batch, n, 1 or 2], or real ones [batch, n] as onnxruntime takes them."""
    step, window, x = node.runtime_scalar(1), node.get(2), node[0]
    x = node.build.reshape(x, (*x.shape, 1)) if x.rank == 2 else x
    _check_parts(x, 3)
    length = node.dims(3)[0] if node.has(3) else window.shape[0] if window is not None else None
    if length is None or at_least(0, step) or at_least(0, length):
        raise NotSupported(f"frames of length {length} at a distance of {step}; give frame_length or a window")
    if window is not None and window.shape != (length,) and not sizes_of([length]):
        raise NotSupported(f"a window of shape {window.shape} on frames of length {length}")
    return fourier.stft(node.build, x, step, length, window, bool(node.attr("onesided", 1)))


def _check_parts(x: Tensor, rank: int | None = None) -> None:
    """NotSupported where the last dimension of a signal does not hold a real part, or that and an imaginary one."""
    if x.rank < 2 or rank not in (None, x.rank) or (isinstance(x.shape[-1], int) and x.shape[-1] not in (1, 2)):
        wanted = "[…, n, 1]" if rank is None else "[batch, n], [batch, n, 1]"
        raise NotSupported(f"a signal {x}; it takes {wanted} or, of complex numbers, […, n, 2]")


@onnx_op("MelWeightMatrix", since=17)
def mel_weight_matrix(node: Node) -> Tensor:
    element = element_of_onnx(node.attr("output_datatype", 1))
    if any(node[n].known is None for n in range(5)):
        bins, length = (node.dim(node.runtime_scalar(n), f"input {n}") for n in range(2))
        return node.build.cast(mel.runtime_mel_filters(node.build, bins, length, node[2], node[3], node[4]), element)
    count, frame, rate = (int(node.scalar(n)) for n in range(3))
    return mel.mel_filters(count, frame, rate, node.scalar(3), node.scalar(4), element)
