"""Pooling whose windows end at a mask. Source: onnxruntime's MaxpoolWithMask."""

from __future__ import annotations

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.convolution.windows import Window
from mlc.frontends.build.ops.indexing.sorting import cumulative
from mlc.frontends.build.tensors import Tensor

LEAST = "-3.4028234663852886e38"  # of f32: the maximum of no element


def max_pool_until(build: Builder, x: Tensor, stops: Tensor, window: Window) -> Tensor:
    """The maximum of each window, each of whose rows ends before the first element where ``stops`` is not 0.

    ``stops`` [1 or N · C, D…] of i64; a row is one along the last dimension. Without an element: the least number.
    """
    width, rank = x.shape[-1], len(window.kernel)
    rows = build.reshape(stops, (product(stops.shape[:-1]), width, 1))
    until = build.reshape(cumulative(build, "add", rows), stops.shape)
    at = [f"(i{n + 2}*{s} + r{n} - ({p}))" for n, (s, p) in enumerate(zip(window.strides, window.low, strict=True))]
    begin = f"max(i{rank + 1}*{window.strides[-1]} - ({window.low[-1]}), 0)"
    channel = "0" if stops.shape[0] == 1 else f"i0*({x.shape[1]}) + i1"
    outer = [f"min(max({a}, 0), {d} - 1)" for a, d in zip(at, x.shape[2:], strict=True)]
    upto, before = (", ".join([channel, *outer[:-1], a]) for a in (outer[-1], f"min(max({begin} - 1, 0), {width} - 1)"))
    passed = f"x1[{upto}] - where({begin} > 0, x1[{before}], 0)"
    inside = " & ".join(f"({a} >= 0) & ({a} < {d})" for a, d in zip(at, x.shape[2:], strict=True))
    value = f"where(({passed} == 0) & {inside}, x0[i0, i1, {', '.join(outer)}], {LEAST})"
    ends = zip(x.shape[2:], window.low, window.high, window.extra, window.kernel, window.strides, strict=True)
    sizes = [(d + a + b + e - k) // s + 1 for d, a, b, e, k, s in ends]
    return build.compute(value, [x, until], (*x.shape[:2], *sizes), window.kernel, "max")
