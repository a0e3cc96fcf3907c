"""Recurrent layers: RNN, GRU, LSTM, stacked and in both directions."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.frontends.build.ops.recurrent.cells import GRU, LSTM, RNN, Cell, Kind, recurrence
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten

ORDER = {"lstm": (LSTM, [0, 3, 1, 2]), "gru": (GRU, [1, 0, 2]), "rnn_tanh": (RNN, [0]), "rnn_relu": (RNN, [0])}
"""Each kind, and where its gates are among torch's: LSTM i, f, g, o; GRU r, z, n."""
GATED = ["sigmoid(x0)", "tanh(x0)"]
ACTIVATIONS = {"lstm": [*GATED, "tanh(x0)"], "gru": GATED, "rnn_tanh": ["tanh(x0)"], "rnn_relu": ["relu(x0)"]}


@aten("lstm.input")
def lstm(call: Call, x: Tensor, states: Sequence[Tensor], *rest: object) -> tuple[Tensor, Tensor, Tensor]:
    y, last = _layers(call, x, states, *rest)  # type: ignore[arg-type]
    return y, last[0], last[1]


@aten("gru.input", "rnn_tanh.input", "rnn_relu.input")
def simple(call: Call, x: Tensor, state: Tensor, *rest: object) -> tuple[Tensor, Tensor]:
    y, last = _layers(call, x, [state], *rest)  # type: ignore[arg-type]
    return y, last[0]


def _layers(
    call: Call,
    x: Tensor,
    states: Sequence[Tensor],
    weights: Sequence[Tensor],
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, list[Tensor]]:
    """(hidden states of the last layer at all steps, last states of all layers and directions)."""
    build, directions, each = call.build, 2 if bidirectional else 1, 4 if has_biases else 2
    x = build.transpose(x, [1, 0, 2]) if batch_first else x
    ends: list[list[Tensor]] = []
    for layer in range(layers):
        found = []
        for direction in range(directions):
            n = layer * directions + direction
            own = [build.reshape(build.cut(s, 0, n, 1), s.shape[1:]) for s in states]
            y, last = _direction(call, x, weights[n * each : (n + 1) * each], own, direction == 1)
            found.append(y)
            ends.append(last)
        x = build.concat(found, 2)
    last = [build.concat([build.reshape(e[k], (1, *e[k].shape)) for e in ends], 0) for k in range(len(states))]
    return build.transpose(x, [1, 0, 2]) if batch_first else x, last


def _direction(
    call: Call, x: Tensor, weights: Sequence[Tensor], states: list[Tensor], backward: bool
) -> tuple[Tensor, list[Tensor]]:
    kind, order = ORDER[call.op]
    inputs, hidden, *biases = (_reordered(call, w, kind, order) for w in weights)
    bias, own = biases or (None, None)
    cell = Cell(call.build, states[0].shape[1], hidden, own, None, ACTIVATIONS[call.op], None, kind is GRU)
    return recurrence(cell, kind, x, inputs, bias, states, backward)


def _reordered(call: Call, w: Tensor, kind: Kind, order: Sequence[int]) -> Tensor:
    """A weight or bias with its gates in the order that the cell has."""
    size = w.shape[0] // kind.gates
    return call.build.concat([call.build.cut(w, 0, n * size, size) for n in order], 0)
