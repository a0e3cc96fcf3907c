"""Causal depthwise convolution with the last inputs of an earlier call as its state."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

ACTIVATIONS = {"none": "", "silu": "x0 * sigmoid(x0)", "swish": "x0 * sigmoid(x0)"}


def activated(build: Builder, x: Tensor, name: str) -> Tensor:
    """``x`` after the activation of that name.

    Raises:
        NotSupported: there is none.
    """
    if name not in ACTIVATIONS:
        raise NotSupported(f"attribute 'activation' = {name}; {', '.join(ACTIVATIONS)} are known")
    return build.formula(ACTIVATIONS[name], x) if ACTIVATIONS[name] else x


def causal_conv(
    build: Builder, x: Tensor, weight: Tensor, bias: Tensor | None, past: Tensor | None, dilation: int = 1
) -> tuple[Tensor, Tensor]:
    """(result [B, C, L], inputs with the past before them) of ``x`` [B, C, L] by ``weight`` [C, 1, K].

    ``past`` [B, C, (K - 1) * dilation]: the inputs before ``x``; zeros where there is none.
    """
    channels, taps = weight.shape[0], weight.shape[2]
    if not isinstance(channels, int):
        raise NotSupported(f"{channels} channels; fix their number with dims={{name: size}}")
    before = (taps - 1) * dilation
    padded = build.pad(x, [0, 0, before], [0, 0, 0]) if past is None else build.concat([past, x], 2)
    y = build.conv(padded, weight, [1], [dilation], channels)
    if bias is not None:
        y = build.map("x0 + x1", y, build.reshape(bias, (channels, 1)))
    return y, padded


def state_after(build: Builder, padded: Tensor, size: DimLike, window: int = 0) -> Tensor:
    """The last ``size`` of the inputs [B, C, L + size]; of a window also after each of the inputs before the last,
    [window, B, C, size], where those before the first input are zeros."""
    length = padded.shape[2] - size
    if not window:
        return build.cut(padded, 2, length, size)
    at = f"{length} - {window - 1} + i0"
    text = f"where({at} > 0, x0[i1, i2, max({at}, 0) + i3], 0)"
    return build.compute(text, [padded], (window, *padded.shape[:2], size))
