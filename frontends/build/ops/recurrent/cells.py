"""Recurrent cells: RNN, GRU, LSTM.

The products of the inputs of all steps are one contraction; only the product with the hidden state stays in the steps.
A step is a function ``step(inputs, states) -> states`` over tensors; the first state is the hidden one.
Gate orders and formulas: ONNX operators RNN, GRU, LSTM (opset 7, 14).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor

UNROLLED = 256  # steps up to which there is no loop: so that steps of several layers run in parallel
Step = Callable[[Tensor, list[Tensor]], list[Tensor]]
Numbered = Callable[[DimLike, Tensor, list[Tensor]], tuple[Tensor, list[Tensor]]]
At = Callable[[DimLike, list[Tensor]], tuple[list[Tensor], list[Tensor]]]


@dataclass(frozen=True)
class Cell:
    """One direction of a recurrent cell: the weights of its recurrence, and its parameters."""

    build: Builder
    hidden: DimLike
    recurrence: Tensor  # [gates*H, H]
    bias: Tensor | None  # recurrent bias [gates*H], where it is not part of the inputs
    peephole: Tensor | None  # [3*H]
    activations: list[str]
    clip: float | None
    variant: bool  # LSTM: the forget gate is 1 - i; GRU: the reset gate is applied after the product

    def activate(self, n: int, x: Tensor) -> Tensor:
        """The n-th activation of the direction, of a clipped input."""
        if self.clip:
            x = self.build.map(f"clip(x0, {literal(-self.clip)}, {literal(self.clip)})", x)
        return self.build.map(self.activations[n], x)

    def gate(self, x: Tensor, n: int) -> Tensor:
        """Gate ``n``: columns n*H to (n+1)*H of [B, gates*H], or of [gates*H]."""
        return self.build.cut(x, -1, n * self.hidden, self.hidden)

    def recur(self, h: Tensor) -> Tensor:
        return self.build.contract("mk,nk->mn", h, self.recurrence)


def rnn_step(cell: Cell, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    """One step of an RNN: activation(inputs + recurrence · h)."""
    return [cell.activate(0, cell.build.map("x0 + x1", x, cell.recur(states[0])))]


def gru_step(cell: Cell, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    """One step of a GRU, with gates z, r, h. As a ``variant`` the reset gate multiplies the result of the product, bias
    included, so that one product makes all three gates.
    """
    build, h, size = cell.build, states[0], cell.hidden
    first = cell.recurrence if cell.variant else build.cut(cell.recurrence, 0, 0, 2 * size)
    gates = build.contract("mk,nk->mn", h, first)
    z = cell.activate(0, build.map("x0 + x1", cell.gate(x, 0), cell.gate(gates, 0)))
    r = cell.activate(0, build.map("x0 + x1", cell.gate(x, 1), cell.gate(gates, 1)))
    if cell.variant:
        product = cell.gate(gates, 2)
        product = product if cell.bias is None else build.map("x0 + x1", product, cell.gate(cell.bias, 2))
        new = cell.activate(1, build.map("x0 + x1 * x2", cell.gate(x, 2), r, product))
    else:
        last = build.cut(cell.recurrence, 0, 2 * size, size)
        product = build.contract("mk,nk->mn", build.map("x0 * x1", r, h), last)
        new = cell.activate(1, build.map("x0 + x1", cell.gate(x, 2), product))
    return [build.map("(1 - x0) * x1 + x0 * x2", z, new, h)]


def lstm_step(cell: Cell, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    """One step of an LSTM, with gates i, o, f, c and peepholes i, o, f. As a ``variant`` the forget gate is 1 - i."""
    build, (h, c) = cell.build, states
    gates = build.map("x0 + x1", x, cell.recur(h))

    def peeped(n: int, state: Tensor) -> Tensor:
        gate = cell.gate(gates, n)
        return gate if cell.peephole is None else build.map("x0 + x1 * x2", gate, cell.gate(cell.peephole, n), state)

    i = cell.activate(0, peeped(0, c))
    f = build.map("1 - x0", i) if cell.variant else cell.activate(0, peeped(2, c))
    new = build.map("x0 * x1 + x2 * x3", f, c, i, cell.activate(1, cell.gate(gates, 3)))
    o = cell.activate(0, peeped(1, new))
    return [build.map("x0 * x1", o, build.map(cell.activations[2], new)), new]


@dataclass(frozen=True)
class Kind:
    """A cell: its number of gates, default activations, number of states and step."""

    gates: int
    activations: tuple[str, ...]
    states: int
    step: Callable[[Cell, Tensor, list[Tensor]], list[Tensor]]


RNN = Kind(1, ("tanh",), 1, rnn_step)
GRU = Kind(3, ("sigmoid", "tanh"), 1, gru_step)
LSTM = Kind(4, ("sigmoid", "tanh", "tanh"), 2, lstm_step)


def recurrence(
    cell: Cell,
    kind: Kind,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    states: list[Tensor],
    backward: bool = False,
    lengths: Tensor | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """(hidden states of all steps [S, B, H], last states) of inputs ``x`` [S, B, I] in one direction.

    ``weight`` [gates*H, I] and ``bias`` are of the inputs.
    """
    inputs = _projected(cell, x, weight, bias, own_bias=kind is GRU and cell.variant)
    return stepped(cell.build, inputs, states, lambda x_t, s: kind.step(cell, x_t, s), backward, lengths)


def _projected(cell: Cell, x: Tensor, weight: Tensor, bias: Tensor | None, own_bias: bool) -> Tensor:
    """X·Wᵀ + biases for all steps: [S, B, gates*H]. ``own_bias``: the step adds the last gate's recurrent bias."""
    build, (steps, batch, _) = cell.build, x.shape
    flat = build.contract("mk,nk->mn", build.reshape(x, (steps * batch, x.shape[2])), weight)
    if bias is not None and cell.bias is not None:
        recurrent = cell.bias
        if own_bias:
            zeros = build.broadcast(build.constant(0, x.element), (cell.hidden,))
            recurrent = build.concat([build.cut(recurrent, 0, 0, 2 * cell.hidden), zeros], 0)
        flat = build.map("x0 + x1", flat, build.map("x0 + x1", bias, recurrent))
    return build.reshape(flat, (steps, batch, weight.shape[0]))


def inserted(build: Builder, x: Tensor, axis: int) -> Tensor:
    """``x`` with a new dimension of 1 before ``axis``."""
    return build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


def stepped(
    build: Builder, xs: Tensor, states: list[Tensor], step: Step, backward: bool, lengths: Tensor | None
) -> tuple[Tensor, list[Tensor]]:
    """Run ``step`` along dimension 0 of ``xs`` [S, B, N], from its end where ``backward``: (ys [S, B, H], last states).

    With ``lengths`` [B], a sequence keeps its states, and has zeros as results, outside of its own steps.
    """

    def masked(t: DimLike, x: Tensor, before: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        new = step(x, before)
        return (new[0], new) if lengths is None else while_running(build, t, lengths, new, before)

    return iterated(build, xs, states, masked, backward)


def iterated(
    build: Builder, xs: Tensor, states: list[Tensor], step: Numbered, backward: bool = False, unrolled: int = UNROLLED
) -> tuple[Tensor, list[Tensor]]:
    """Run ``step(t, xs[t], states)``, which gives a result and the new states, along dimension 0 of ``xs``.

    Up to ``unrolled`` steps there is no loop.
    """

    def at(t: DimLike, before: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        y, new = step(t, row_at(build, xs, t), before)
        return [y], new

    (ys,), last = run_steps(build, xs.shape[0], states, at, backward, unrolled)
    return ys, last


def row_at(build: Builder, xs: Tensor, t: DimLike) -> Tensor:
    """xs[t]."""
    return build.reshape(build.cut(xs, 0, t, 1), xs.shape[1:])


def run_steps(
    build: Builder, steps: DimLike, states: list[Tensor], at: At, backward: bool = False, unrolled: int = UNROLLED
) -> tuple[list[Tensor], list[Tensor]]:
    """(results of all steps along a new first dimension, last states) of ``at(t, states) -> (results, states)``.

    Up to ``unrolled`` steps there is no loop.
    """
    if not isinstance(steps, int) or steps > unrolled or steps == 0:
        return _as_loop(build, steps, states, at, backward)
    found: list[list[Tensor]] = [[]] * steps
    for t in reversed(range(steps)) if backward else range(steps):
        found[t], states = at(t, states)
    return [build.concat([inserted(build, y, 0) for y in ys], 0) for ys in zip(*found, strict=True)], states


def _as_loop(
    build: Builder, steps: DimLike, states: list[Tensor], at: At, backward: bool
) -> tuple[list[Tensor], list[Tensor]]:
    def iteration(index: Dim, before: list[Tensor]) -> Iteration:
        t = steps - 1 - index if backward else index
        ys, new = at(t, before)
        return Iteration(new, ys, [t] * len(ys))

    found = emit_loop(build, steps, states, iteration)
    return found[len(states) :], found[: len(states)]


def while_running(
    build: Builder, t: DimLike, lengths: Tensor, new: Sequence[Tensor], old: Sequence[Tensor]
) -> tuple[Tensor, list[Tensor]]:
    """For sequences that have a step ``t``: (the first of ``new``, ``new``). For the others: (zeros, ``old``)."""
    running = build.compute(f"i64(x0[i0]) > {t}", [lengths], (*lengths.shape, 1))
    y = build.map("where(x0, x1, 0)", running, new[0])
    return y, [build.map("where(x0, x1, x2)", running, n, o) for n, o in zip(new, old, strict=True)]
