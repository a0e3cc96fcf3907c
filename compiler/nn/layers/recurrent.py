"""Recurrent cells, and layers that scan them over sequences. Source: torch.nn.RNN, LSTM, GRU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.activations import relu, sigmoid, tanh
from mlc.frontends.array.transforms.control import scan
from mlc.nn import init
from mlc.nn.layers.basic import Dropout, linear
from mlc.nn.module import Module, inlined, static

Step = Callable[[Any, Array, Array], Any]
"""The next state from a state, the products of the input and those of the hidden state, with their biases."""


def _rnn(state: Array, x: Array, h: Array) -> Array:
    return tanh(x + h)


def _rnn_relu(state: Array, x: Array, h: Array) -> Array:
    return relu(x + h)


def _lstm(state: tuple[Array, Array], x: Array, h: Array) -> tuple[Array, Array]:
    i, f, g, o = _parts(x + h, 4)
    c = sigmoid(f) * state[1] + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c


def _gru(state: Array, x: Array, h: Array) -> Array:
    (xr, xz, xn), (hr, hz, hn) = _parts(x, 3), _parts(h, 3)
    z = sigmoid(xz + hz)
    n = tanh(xn + sigmoid(xr + hr) * hn)
    return (1 - z) * n + z * state


def _parts(x: Array, count: int) -> list[Array]:
    size = x.shape[-1] // count
    return [x[..., n * size : (n + 1) * size] for n in range(count)]


class _Recurrent(Module):
    """What a kind of cell is: its step, how many gates its weights have, and whether its state is a pair (h, c)."""

    gates: ClassVar[int] = 1
    is_pair: ClassVar[bool] = False
    nonlinearity: str = static()

    def _step(self) -> Step:
        if self.nonlinearity not in ("tanh", "relu"):
            raise InputError(f"There is no nonlinearity '{self.nonlinearity}'", hint="Use 'tanh' or 'relu'")
        return _rnn if self.nonlinearity == "tanh" else _rnn_relu

    def _weights(
        self, inputs: int, hidden: int, suffix: str, bias: bool, rng: np.random.Generator | None
    ) -> dict[str, Array]:
        rows = self.gates * hidden
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, inputs), "weight_hh": (rows, hidden)}
        if bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        return {f"{name}{suffix}": init.by_inputs(shape, hidden, rng) for name, shape in shapes.items()}

    def _zeros(self, x: Array, batch: Any, hidden: int) -> Any:
        h = mnp.zeros((batch, hidden), dtype=x.dtype)
        return (h, h) if self.is_pair else h

    def _hidden(self, state: Any) -> Array:
        return state[0] if self.is_pair else state


class _Cell(_Recurrent):
    """One step: the next state from an input [B, I] and a state [B, H], for an LSTM a pair (h, c); zeros by default."""

    weights: dict[str, Array] = inlined()
    hidden_size: int = static()

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        rng: np.random.Generator | None = None,
    ) -> None:
        self.weights = self._weights(input_size, hidden_size, "", bias, rng)
        self.hidden_size, self.nonlinearity = hidden_size, nonlinearity

    def __call__(self, x: Any, state: Any = None) -> Any:
        given, w = as_array(x), self.weights
        state = self._zeros(given, given.shape[0], self.hidden_size) if state is None else state
        products = linear(given, w["weight_ih"], w.get("bias_ih"))
        return self._step()(state, products, linear(self._hidden(state), w["weight_hh"], w.get("bias_hh")))


class _Layers(_Recurrent):
    """Layers of cells over a sequence [T, B, I], or with ``batch_first`` [B, T, I]: (outputs, last state).

    Outputs are the last layer's hidden states, those of both directions side by side; the state has a row for each
    layer and direction. The products of all inputs are one matrix product, and the steps one loop (``mlc.scan``).
    ``dropout``: in training, of the outputs of all layers but the last.
    """

    weights: dict[str, Array] = inlined()
    hidden_size: int = static()
    num_layers: int = static()
    batch_first: bool = static()
    dropout: float = static()
    bidirectional: bool = static()

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        nonlinearity: str = "tanh",
        rng: np.random.Generator | None = None,
    ) -> None:
        self.hidden_size, self.num_layers, self.nonlinearity = hidden_size, num_layers, nonlinearity
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        self.weights = {}
        for layer in range(num_layers):
            inputs = hidden_size * (1 + bidirectional) if layer else input_size
            for suffix in self._suffixes(layer):
                self.weights |= self._weights(inputs, hidden_size, suffix, bias, rng)

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: 1 + self.bidirectional]

    def __call__(self, x: Any, state: Any = None) -> tuple[Array, Any]:
        """``state``: the first one, shaped as the last one; zeros by default.

        Raises:
            InputError: an input that is no batch of sequences.
        """
        given = as_array(x)
        if given.ndim != 3:
            raise InputError(
                f"{type(self).__name__} takes arrays of rank 3, not one of shape {given.shape}", hint="Give [T, B, I]"
            )
        sequence = mnp.moveaxis(given, 1, 0) if self.batch_first else given
        last: list[Any] = []
        for layer in range(self.num_layers):
            outputs = []
            for suffix in self._suffixes(layer):
                first = self._first(state, len(last), sequence)
                ys, final = self._scanned(sequence, first, suffix)
                outputs.append(ys)
                last.append(final)
            sequence = mnp.concat(outputs, axis=-1) if len(outputs) > 1 else outputs[0]
            if layer < self.num_layers - 1 and self.training:
                sequence = Dropout(self.dropout)(sequence)
        out = mnp.moveaxis(sequence, 1, 0) if self.batch_first else sequence
        return out, tuple(map(mnp.stack, zip(*last, strict=True))) if self.is_pair else mnp.stack(last)

    def _first(self, state: Any, row: int, sequence: Array) -> Any:
        if state is None:
            return self._zeros(sequence, sequence.shape[1], self.hidden_size)
        return tuple(as_array(s)[row] for s in state) if self.is_pair else as_array(state)[row]

    def _scanned(self, sequence: Array, state: Any, suffix: str) -> tuple[Array, Any]:
        w = self.weights
        hidden_weight, hidden_bias, step = w[f"weight_hh{suffix}"], w.get(f"bias_hh{suffix}"), self._step()
        products = linear(sequence, w[f"weight_ih{suffix}"], w.get(f"bias_ih{suffix}"))
        is_reverse = suffix.endswith("reverse")

        def body(state: Any, x: Array) -> tuple[Any, Array]:
            after = step(state, x, linear(self._hidden(state), hidden_weight, hidden_bias))
            return after, self._hidden(after)

        final, ys = scan(body, state, products[::-1] if is_reverse else products)
        return (ys[::-1] if is_reverse else ys), final


class _LstmSteps:
    gates, is_pair = 4, True

    def _step(self) -> Step:
        return _lstm


class _GruSteps:
    gates = 3

    def _step(self) -> Step:
        return _gru


class RNNCell(_Cell):
    __doc__ = _Cell.__doc__


class LSTMCell(_LstmSteps, _Cell):
    __doc__ = _Cell.__doc__


class GRUCell(_GruSteps, _Cell):
    __doc__ = _Cell.__doc__


class RNN(_Layers):
    __doc__ = _Layers.__doc__


class LSTM(_LstmSteps, _Layers):
    __doc__ = _Layers.__doc__


class GRU(_GruSteps, _Layers):
    __doc__ = _Layers.__doc__
