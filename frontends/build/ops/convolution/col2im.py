"""Col2im: columns of windows added up where they overlap (fold); the transpose of im2col. Source: ONNX Col2Im 18."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def col2im(
    build: Builder,
    x: Tensor,
    image: Sequence[DimLike],
    kernel: Sequence[DimLike],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> Tensor:
    """[N, C, *image] of columns ``x`` [N, C·k, L]: each pixel sums the kernel offsets that reach it.

    ``pads``: those at the start of each dimension, then those at the end.
    """
    rank = len(kernel)
    windows = [
        (d + pads[n] + pads[n + rank] - dilations[n] * (kernel[n] - 1) - 1) // strides[n] + 1
        for n, d in enumerate(image)
    ]
    channels = x.shape[1] // product(kernel)
    columns = build.reshape(x, (x.shape[0], channels, *kernel, *windows))
    offset = [f"(i{n + 2} + {pads[n]} - r{n} * {dilations[n]})" for n in range(rank)]
    at = [f"min(max({o} // {s}, 0), {w - 1})" for o, s, w in zip(offset, strides, windows, strict=True)]
    valid = " & ".join(
        f"({o} >= 0) & ({o} % {s} == 0) & ({o} // {s} < {w})" for o, s, w in zip(offset, strides, windows, strict=True)
    )
    read = ", ".join(["i0", "i1", *[f"r{n}" for n in range(rank)], *at])
    return build.compute(f"where({valid}, x0[{read}], 0)", [columns], (x.shape[0], channels, *image), kernel, "add")
