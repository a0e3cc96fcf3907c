"""com.microsoft: DynamicQuantizeLSTM, which quantize_dynamic makes of LSTM."""

from __future__ import annotations

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.recurrent.cells import LSTM
from mlc.frontends.build.ops.recurrent.quantized import QuantizedCell, Weight, quantized_lstm
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.recurrent import activations_of, directions_of, initial_state, of_direction, stacked
from mlc.frontends.onnx.ops.microsoft import DOMAIN

READ = ("activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget")


@onnx_op("DynamicQuantizeLSTM", domain=DOMAIN)
def dynamic_quantize_lstm(node: Node) -> tuple[Tensor, ...]:
    """(hidden states of all steps [S, D, B, H], last hidden states and cells [D, B, H]).

    Inputs 1 and 2 are weights [D, I, 4*H] and [D, H, 4*H] of 8 bits, 8 to 11 their scales and zero points, [D] or
    [D, 4*H]. The others are LSTM's.
    """
    node.only(*READ)
    for n, shape in ((1, node[0].shape[2]), (2, node[2].shape[2] // 4)):
        if node[n].rank != 3 or node[n].shape[1] != shape:
            raise NotSupported(f"input {n} of shape {node[n].shape}; [directions, {shape}, 4*hidden] is right")
    return stacked(node, [_direction(node, n, backward) for n, backward in enumerate(directions_of(node))], 2)


def _direction(node: Node, n: int, backward: bool) -> tuple[Tensor, list[Tensor]]:
    build, x = node.build, node[0]
    weight, recurrence = _weight(node, n, 1, 8), _weight(node, n, 2, 10)
    bias, hidden = of_direction(node, 3, n), node[2].shape[1]
    if bias is not None:
        halves = [build.cut(bias, 0, k * 4 * hidden, 4 * hidden) for k in range(2)]
        bias = build.map("x0 + x1", *halves)
    cell = QuantizedCell(
        build=build,
        hidden=hidden,
        recurrence=node[2],
        bias=bias,
        peephole=of_direction(node, 7, n),
        activations=activations_of(node, LSTM, n),
        clip=node.attr("clip", None),
        variant=bool(node.attr("input_forget", 0)),
        weight=recurrence,
    )
    states = [initial_state(node, 5 + k, n, x.shape[1], hidden, x.element) for k in range(2)]
    return quantized_lstm(cell, x, weight, states, backward, node.get(4))


def _weight(node: Node, n: int, at: int, parameters: int) -> Weight:
    """Input ``at`` with its scale and zero point, of one direction."""
    scale, zero = (of_direction(node, k, n) for k in (parameters, parameters + 1))
    if scale is None or zero is None:
        raise NotSupported(f"input {parameters + (scale is not None)} is missing")
    if zero.rank and zero.known is not None and (zero.known == zero.known[:1]).all():
        zero = node.build.reshape(node.build.cut(zero, 0, 0, 1), ())
    return Weight(node[at], n, scale, zero)
