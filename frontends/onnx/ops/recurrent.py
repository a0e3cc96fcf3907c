"""Recurrent operators: RNN, GRU, LSTM.

The products of the inputs of all steps are one contraction; only that with the hidden state stays in the steps.
A step is a function ``step(inputs, states) -> states`` over tensors; the first state is the hidden one.
Gate orders and formulas: ONNX operators RNN, GRU, LSTM (opset 7, 14).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlc.dialects.dims import Dim, DimLike
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.tensors import Tensor
from mlc.frontends.onnx.turns import Turn, turns

UNROLLED = 256  # steps up to which there is no loop: steps of several layers then run side by side
Step = Callable[[Tensor, list[Tensor]], list[Tensor]]

ACTIVATIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "affine": ("{0} * x0 + {1}", (1.0, 0.0)),
    "elu": ("where(x0 >= 0, x0, {0} * expm1(x0))", (1.0,)),
    "hardsigmoid": ("max(0, min(1, {0} * x0 + {1}))", (0.2, 0.5)),
    "leakyrelu": ("where(x0 >= 0, x0, {0} * x0)", (0.01,)),
    "relu": ("relu(x0)", ()),
    "scaledtanh": ("{0} * tanh({1} * x0)", (1.0, 1.0)),
    "sigmoid": ("sigmoid(x0)", ()),
    "softplus": ("softplus(x0)", ()),
    "softsign": ("x0 / (1 + abs(x0))", ()),
    "tanh": ("tanh(x0)", ()),
    "thresholdedrelu": ("where(x0 > {0}, x0, 0)", (1.0,)),
}


@dataclass(frozen=True)
class Cell:
    """What a step of one direction needs: weights of the recurrence, and the attributes."""

    build: Builder
    hidden: DimLike
    recurrence: Tensor  # [gates*H, H]
    bias: Tensor | None  # recurrent bias [gates*H], where it is not part of the inputs
    peephole: Tensor | None  # [3*H]
    activations: list[str]
    clip: float | None
    flag: bool  # input_forget of LSTM, linear_before_reset of GRU

    def activate(self, n: int, x: Tensor) -> Tensor:
        """The n-th activation of the direction, of a clipped input."""
        if self.clip:
            x = self.build.map(f"clip(x0, {literal(-self.clip)}, {literal(self.clip)})", x)
        return self.build.map(self.activations[n], x)

    def gate(self, x: Tensor, n: int) -> Tensor:
        """Gate ``n`` of [B, gates*H], or of [gates*H]."""
        return self.build.cut(x, -1, n * self.hidden, self.hidden)

    def recur(self, h: Tensor) -> Tensor:
        return self.build.contract("mk,nk->mn", h, self.recurrence)


def rnn_step(cell: Cell, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    return [cell.activate(0, cell.build.map("x0 + x1", x, cell.recur(states[0])))]


def gru_step(cell: Cell, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    """Gates z, r, h. With ``flag`` the reset gate is applied behind the product, bias included."""
    build, h, size = cell.build, states[0], cell.hidden
    both = build.contract("mk,nk->mn", h, build.cut(cell.recurrence, 0, 0, 2 * size))
    z = cell.activate(0, build.map("x0 + x1", cell.gate(x, 0), cell.gate(both, 0)))
    r = cell.activate(0, build.map("x0 + x1", cell.gate(x, 1), cell.gate(both, 1)))
    last = build.cut(cell.recurrence, 0, 2 * size, size)
    if cell.flag:
        product = build.contract("mk,nk->mn", h, last)
        product = product if cell.bias is None else build.map("x0 + x1", product, cell.gate(cell.bias, 2))
        new = cell.activate(1, build.map("x0 + x1 * x2", cell.gate(x, 2), r, product))
    else:
        product = build.contract("mk,nk->mn", build.map("x0 * x1", r, h), last)
        new = cell.activate(1, build.map("x0 + x1", cell.gate(x, 2), product))
    return [build.map("(1 - x0) * x1 + x0 * x2", z, new, h)]


def lstm_step(cell: Cell, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    """Gates i, o, f, c; peepholes i, o, f. With ``flag`` the forget gate is 1 - i."""
    build, (h, c) = cell.build, states
    gates = build.map("x0 + x1", x, cell.recur(h))

    def peeped(n: int, state: Tensor) -> Tensor:
        gate = cell.gate(gates, n)
        return gate if cell.peephole is None else build.map("x0 + x1 * x2", gate, cell.gate(cell.peephole, n), state)

    i = cell.activate(0, peeped(0, c))
    f = build.map("1 - x0", i) if cell.flag else cell.activate(0, peeped(2, c))
    new = build.map("x0 * x1 + x2 * x3", f, c, i, cell.activate(1, cell.gate(gates, 3)))
    o = cell.activate(0, peeped(1, new))
    return [build.map("x0 * x1", o, build.map(cell.activations[2], new)), new]


@dataclass(frozen=True)
class Kind:
    """An operator: its number of gates, default activations, number of states and step."""

    gates: int
    activations: tuple[str, ...]
    states: int
    step: Callable[[Cell, Tensor, list[Tensor]], list[Tensor]]
    flag: str = ""


KINDS = {
    "RNN": Kind(1, ("tanh",), 1, rnn_step),
    "GRU": Kind(3, ("sigmoid", "tanh"), 1, gru_step, "linear_before_reset"),
    "LSTM": Kind(4, ("sigmoid", "tanh", "tanh"), 2, lstm_step, "input_forget"),
}


@onnx_op(*KINDS, since=7)
def recurrent(node: Node) -> tuple[Tensor, ...]:
    kind, build, batch_first = KINDS[node.op], node.build, node.attr("layout", 0)
    x = build.transpose(node[0], [1, 0, 2]) if batch_first else node[0]
    directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[
        node.attr("direction", "forward")
    ]
    results = [_direction(node, kind, x, n, backward) for n, backward in enumerate(directions)]
    everything = build.concat([_inserted(build, ys, 1) for ys, _ in results], 1)
    finals = [build.concat([_inserted(build, states[n], 0) for _, states in results], 0) for n in range(kind.states)]
    if batch_first:
        everything = build.transpose(everything, [2, 0, 1, 3])
        finals = [build.transpose(s, [1, 0, 2]) for s in finals]
    return (everything, *finals)


def _inserted(build: Builder, x: Tensor, axis: int) -> Tensor:
    return build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


def _part(node: Node, n: int, direction: int) -> Tensor | None:
    """One direction of an input whose first dimension is the direction."""
    x = node.get(n)
    if x is None:
        return None
    return node.build.reshape(node.build.cut(x, 0, direction, 1), x.shape[1:])


def _direction(node: Node, kind: Kind, x: Tensor, n: int, backward: bool) -> tuple[Tensor, list[Tensor]]:
    """(hidden states of all steps [S, B, H], last states) of one direction."""
    build, bias = node.build, _part(node, 3, n)
    weight, recurrence = _part(node, 1, n), _part(node, 2, n)
    assert weight is not None and recurrence is not None
    size = weight.shape[0]
    inner, behind = (None, None) if bias is None else (build.cut(bias, 0, 0, size), build.cut(bias, 0, size, size))
    flag = bool(kind.flag and node.attr(kind.flag, 0))
    activations = _activations(node, kind, n)
    cell = Cell(
        build, recurrence.shape[1], recurrence, behind, _part(node, 7, n), activations, node.attr("clip", None), flag
    )
    inputs = _projected(cell, x, weight, inner, apart=node.op == "GRU" and flag)
    states = [_initial(node, 5 + k, n, x.shape[1], cell.hidden, x.element) for k in range(kind.states)]
    return stepped(build, inputs, states, lambda x_t, s: kind.step(cell, x_t, s), backward, node.get(4))


def _projected(cell: Cell, x: Tensor, weight: Tensor, bias: Tensor | None, apart: bool) -> Tensor:
    """X·Wᵀ + biases for all steps: [S, B, gates*H]. ``apart``: the last gate's recurrent bias is added in the step."""
    build, (steps, batch, _) = cell.build, x.shape
    flat = build.contract("mk,nk->mn", build.reshape(x, (steps * batch, x.shape[2])), weight)
    if bias is not None and cell.bias is not None:
        behind = cell.bias
        if apart:
            zeros = build.broadcast(build.constant(0, x.element), (cell.hidden,))
            behind = build.concat([build.cut(behind, 0, 0, 2 * cell.hidden), zeros], 0)
        flat = build.map("x0 + x1", flat, build.map("x0 + x1", bias, behind))
    return build.reshape(flat, (steps, batch, weight.shape[0]))


def _initial(node: Node, n: int, direction: int, batch: DimLike, hidden: DimLike, element: str) -> Tensor:
    x, build = node.get(n), node.build
    if x is not None and node.attr("layout", 0):
        x = build.transpose(x, [1, 0, 2])
    if x is None:
        return build.broadcast(build.constant(0, element), (batch, hidden))
    return build.reshape(build.cut(x, 0, direction, 1), x.shape[1:])


def _activations(node: Node, kind: Kind, direction: int) -> list[str]:
    """Scalar expressions of a direction's activations; alphas and betas are given to those that take them, in order."""
    names = [a.lower() for a in node.attr("activations", None) or kind.activations * 2]
    alphas, betas = iter(node.attr("activation_alpha", None) or ()), iter(node.attr("activation_beta", None) or ())
    found = []
    for name in names:
        if name not in ACTIVATIONS:
            raise NotSupported(f"activation '{name}'")
        text, defaults = ACTIVATIONS[name]
        values = [next(given, default) for given, default in zip((alphas, betas), defaults, strict=False)]
        found.append(text.format(*map(literal, values)))
    count = len(kind.activations)
    return found[direction * count : (direction + 1) * count] or found[:count]


def stepped(
    build: Builder, xs: Tensor, states: list[Tensor], step: Step, backward: bool, lengths: Tensor | None
) -> tuple[Tensor, list[Tensor]]:
    """Run ``step`` along dimension 0 of ``xs`` [S, B, N], from its end where ``backward``: (ys [S, B, H], last states).

    With ``lengths`` [B], a sequence keeps its states, and gives zeros, outside of its own steps.
    """

    def at(t: DimLike, before: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        new = step(build.reshape(build.cut(xs, 0, t, 1), xs.shape[1:]), before)
        return (new[0], new) if lengths is None else _masked(build, t, lengths, new, before)

    steps = xs.shape[0]
    if not isinstance(steps, int) or steps > UNROLLED:
        return _in_turns(build, steps, states, at, backward)
    ys: list[Tensor] = [xs] * steps
    for t in reversed(range(steps)) if backward else range(steps):
        ys[t], states = at(t, states)
    return build.concat([_inserted(build, y, 0) for y in ys], 0), states


def _in_turns(
    build: Builder, steps: DimLike, states: list[Tensor], at: Callable[..., tuple[Tensor, list[Tensor]]], backward: bool
) -> tuple[Tensor, list[Tensor]]:
    def turn(number: Dim, before: list[Tensor]) -> Turn:
        t = steps - 1 - number if backward else number
        y, new = at(t, before)
        return Turn(new, [y], [t])

    *last, ys = turns(build, steps, states, turn)
    return ys, last


def _masked(
    build: Builder, t: DimLike, lengths: Tensor, new: Sequence[Tensor], old: Sequence[Tensor]
) -> tuple[Tensor, list[Tensor]]:
    running = build.compute(f"i64(x0[i0]) > {t}", [lengths], (*lengths.shape, 1))
    y = build.map("where(x0, x1, 0)", running, new[0])
    return y, [build.map("where(x0, x1, x2)", running, n, o) for n, o in zip(new, old, strict=True)]
