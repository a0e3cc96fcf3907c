"""Deformable convolution (Dai et al., 2017): computed offsets displace the taps of windows. ONNX DeformConv 19."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.contraction import add_channel_bias
from mlc.frontends.build.ops.convolution.windows import Window
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_extent, with_shape


def deform_conv(
    build: Builder,
    x: Tensor,
    w: Tensor,
    offset: Tensor,
    bias: Tensor | None,
    mask: Tensor | None,
    window: Window,
    groups: int,
    offset_groups: int,
) -> Tensor:
    """Bilinear reads of every tap of every window, then one product a group of channels.

    ``x`` [N, C, D…], ``w`` [F, C/groups, K…], ``offset`` [N, offset_groups · taps · dimensions, out…], ``mask`` (a
    weight of each tap) [N, offset_groups · taps, out…], ``bias`` [F].
    """
    x = with_extent(build, x, 1, w.shape[1] * groups)
    if not all(isinstance(d, int) for d in (x.shape[1], *w.shape)):
        raise NotSupported(f"symbolic channels or filters: {x} and {w}; fix them with dims={{name: size}}")
    columns = _columns(build, x, offset, mask, window, offset_groups)
    out, taps = columns.shape[3:], product(w.shape[2:])
    depth = w.shape[1] * taps
    split = build.reshape(columns, (x.shape[0], groups, depth, product(out)))
    filters = build.reshape(w, (groups, w.shape[0] // groups, depth))
    y = build.contract("ngkp,gmk->ngmp", split, build.cast(filters, split.element))
    y = build.cast(build.reshape(y, (x.shape[0], w.shape[0], *out)), x.element)
    return add_channel_bias(build, y, bias)


def _columns(build: Builder, x: Tensor, offset: Tensor, mask: Tensor | None, window: Window, groups: int) -> Tensor:
    """[N, C, taps, out…]: the element of each channel that each tap of each window reads (im2col)."""
    taps, rank, wide = product(window.kernel), x.rank - 2, build.wide(x)
    offset = with_shape(build, offset, (x.shape[0], groups * taps * rank, *offset.shape[2:]))
    mask = None if mask is None else with_shape(build, mask, (x.shape[0], groups * taps, *offset.shape[2:]))
    here = ", ".join(f"i{n + 3}" for n in range(rank))
    group = f"(i1 // {x.shape[1] // groups})"
    reads, weights = [], []
    for d in range(rank):
        shift = f"x1[i0, ({group}*{taps} + i2)*{rank} + {d}, {here}]"
        read, weight = _tap(f"{wide.element}({_tap_at(window, d)}) + {shift}", d, x.shape[2 + d], wide.element)
        reads.append(f"i64({read})")
        weights.append(f"({weight})")
    if mask is not None:
        weights.append(f"x2[i0, {group}*{taps} + i2, {here}]")
    text = f"x0[i0, i1, {', '.join(reads)}] * {' * '.join(weights)}"
    operands = [wide, *(build.cast(t, wide.element) for t in (offset, mask) if t is not None)]
    shape = (x.shape[0], x.shape[1], taps, *offset.shape[2:])
    return build.compute(text, operands, shape, [2] * rank, "add")


def _tap_at(window: Window, d: int) -> str:
    """The coordinate along spatial dimension ``d`` of tap i2 of the window at i3, i4, …, before its displacement."""
    inner = product(window.kernel[d + 1 :])
    tap = f"(i2 // {inner} % {window.kernel[d]})"
    return f"i{d + 3}*{window.strides[d]} + {tap}*{window.dilations[d]} - ({window.low[d]})"


def _tap(at: str, d: int, extent: DimLike, element: str) -> tuple[str, str]:
    """(clamped position, weight) of the neighbour r<d> of a coordinate; neighbours outside of the image weigh 0."""
    tap, last = f"(floor({at}) + {element}(r{d}))", f"{element}({extent}) - 1"
    return f"min(max({tap}, 0), {last})", f"where(({tap} >= 0) & ({tap} <= {last}), 1 - abs({at} - {tap}), 0)"
