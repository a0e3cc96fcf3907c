"""AttnLSTM: an LSTM that attends to a memory."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.recurrent.attentive import memory_of
from mlc.frontends.build.ops.recurrent.cells import LSTM, Cell, iterated, lstm_step, while_running
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.recurrent import activations_of, directions_of, initial_state, of_direction, stacked
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.sequences.lstm import READ


@onnx_op("AttnLSTM", domain=DOMAIN)
def attn_lstm(node: Node) -> tuple[Tensor, ...]:
    """LSTM's results; inputs 8 to 13 are weights of query, memory and scores, the memory [B, M, depth], its lengths
    and the weight of the attention layer. The weight of the inputs takes [x, what was found in the step before].
    """
    node.only(*READ)
    return stacked(node, [_direction(node, n, backward) for n, backward in enumerate(directions_of(node))], 2)


def _needed(node: Node, k: int, n: int) -> Tensor:
    x = of_direction(node, k, n)
    if x is None:
        raise NotSupported(f"input {k} is missing")
    return x


def _direction(node: Node, n: int, backward: bool) -> tuple[Tensor, list[Tensor]]:
    build, x, lengths = node.build, node[0], node.get(4)
    weight, recurrence, query, keys, vector = (_needed(node, k, n) for k in (1, 2, 8, 9, 10))
    memory = memory_of(build, node[11], node.get(12), keys, query, vector, of_direction(node, 13, n))
    bias, hidden, size = of_direction(node, 3, n), recurrence.shape[1], x.shape[2]
    cell = Cell(
        build=build,
        hidden=hidden,
        recurrence=recurrence,
        bias=None,
        peephole=of_direction(node, 7, n),
        activations=activations_of(node, LSTM, n),
        clip=node.attr("clip", None),
        variant=bool(node.attr("input_forget", 0)),
    )
    inputs = build.contract("sbi,gi->sbg", x, build.cut(weight, 1, 0, size))
    if bias is not None:
        halves = [build.cut(bias, 0, k * weight.shape[0], weight.shape[0]) for k in range(2)]
        inputs = build.map("x0 + x1 + x2", inputs, *halves)
    found = build.cut(weight, 1, size, weight.shape[1] - size)

    def at(t: DimLike, x_t: Tensor, before: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        x_t = build.map("x0 + x1", x_t, build.contract("bn,gn->bg", before[2], found))
        new = lstm_step(cell, x_t, before[:2])
        new = [*new, memory.found(build, new[0])]
        return (new[0], new) if lengths is None else while_running(build, t, lengths, new, before)

    states = [initial_state(node, 5 + k, n, x.shape[1], hidden, x.element) for k in range(2)]
    none = build.broadcast(build.constant(0, x.element), (x.shape[1], found.shape[1]))
    ys, last = iterated(build, inputs, [*states, none], at, backward)
    return ys, last[:2]
