"""CausalConvWithState and VarlenCausalConvWithState."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.recurrent.causal_conv import activated, causal_conv, state_after
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

CUDA = {"input_channel_offset": 0, "input_channels": 0, "state_channels_last": -1, "state_length": 0}


@onnx_op("CausalConvWithState", domain=DOMAIN)
def causal_conv_with_state(node: Node) -> tuple[Tensor, Tensor]:
    """(output, state) of [B, C, L], or [B, L, channels...] with ``channels_last``.

    With ``state_window`` W the states are those after the last W inputs, along a new first dimension.
    """
    node.only("activation", "channels_last", "dilation", "state_window", ndim=1, state_update_capacity=0, **CUDA)
    build, x, past, weight = node.build, node[0], node.get(3), node[1]
    window, dilation, last = node.attr("state_window", 0), node.attr("dilation", 1), node.attr("channels_last", 0)
    if past is not None and window:
        past = build.reshape(build.cut(past, 0, window - 1, 1), past.shape[1:])
    if last:
        past = None if past is None else _channels_second(node, past)
    inner = _channels_second(node, x) if last else x
    y, padded = causal_conv(build, inner, weight, node.get(2), past, dilation)
    y = activated(build, y, node.attr("activation", "none"))
    state = state_after(build, padded, (weight.shape[2] - 1) * dilation, window)
    if not last:
        return y, state
    axes = [*range(state.rank - 2), state.rank - 1, state.rank - 2]
    state = build.transpose(state, axes)
    state = build.reshape(state, (*state.shape[:-1], *x.shape[2:]))
    return build.reshape(build.transpose(y, [0, 2, 1]), x.shape), state


def _channels_second(node: Node, x: Tensor) -> Tensor:
    """[B, L, channels...] as [B, C, L]."""
    flat = node.build.reshape(x, (*x.shape[:2], product(x.shape[2:])))
    return node.build.transpose(flat, [0, 2, 1])


@onnx_op("VarlenCausalConvWithState", domain=DOMAIN)
def varlen_causal_conv_with_state(node: Node) -> tuple[Tensor | None, ...]:
    """(output, last inputs of each sequence, first inputs of each) of sequences one after the other, [tokens, C].

    Input 2 says where each begins, [B + 1]; 4 are the inputs before it, [B, C, (K - 1) * dilation].
    """
    node.only("activation", "dilation", "state_update_capacity", "delta_offset", "group_size")
    if node.has(6) or node.has(7):
        raise NotSupported("kernel_delta and previous_mask, which only GPUs have; export without them")
    build, x, weight, past = node.build, node[0], node[1], node[4]
    taps, dilation, starts = weight.shape[2], node.attr("dilation", 1), build.cast(node[2], "i64")
    sequences, before = past.shape[0], (taps - 1) * dilation
    owner = build.compute("i64(x0[r0 + 1] <= i0)", [starts], (x.shape[0],), (sequences,), "add")
    # Input t - d of the token's sequence, or of the past where that is before the sequence.
    at = f"i0 - ({taps} - 1 - r0) * {dilation}"
    back = f"{at} - x3[x4[i0]]"
    value = f"where({back} >= 0, x0[max({at}, 0), i1], x2[x4[i0], i1, min({back}, -1) + {before}])"
    wide = [build.wide(x), build.wide(weight), build.wide(past), starts, owner]
    y = build.compute(f"x1[i1, 0, r0] * {value}", wide, x.shape, (taps,), "add")
    y = y if node.get(3) is None else build.map("x0 + x1", y, build.cast(node[3], y.element))
    y = build.cast(activated(build, y, node.attr("activation", "none")), x.element)
    return y, _last_inputs(node, starts, before), _first_inputs(node, starts) if node.wants(2) else None


def _last_inputs(node: Node, starts: Tensor, size: DimLike) -> Tensor:
    """[B, C, size]: the last inputs of each sequence, of its past where it is shorter."""
    past = node[4]
    back = f"x2[i0 + 1] - {size} + i2"
    value = f"where({back} >= x2[i0], x0[max({back}, 0), i1], x1[i0, i1, min({back} - x2[i0] + {size}, {size} - 1)])"
    return node.build.compute(value, [node[0], past, starts], past.shape)


def _first_inputs(node: Node, starts: Tensor) -> Tensor:
    """[B, capacity, C]: as many first inputs of each sequence as input 5 says, and zeros."""
    build, x, capacity = node.build, node[0], node.attr("state_update_capacity", 0)
    shape = (node[4].shape[0], capacity, x.shape[1])
    inside = "(i1 < x2[i0]) & (x1[i0] + i1 < x1[i0 + 1])"
    return build.compute(f"where({inside}, x0[x1[i0] + i1, i2], 0)", [x, starts, build.cast(node[5], "i64")], shape)
