"""Layers of transformers: attention, and a perceptron of each position. Source: torch.nn; Vaswani et al., 2017."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn import activations as functions
from mlc.nn.layers.attention import MultiheadAttention
from mlc.nn.layers.basic import Dropout, Linear
from mlc.nn.layers.normalizations import LayerNorm
from mlc.nn.module import Module, static

Activation = Callable[[Any], Any]


def _activation(given: str | Activation) -> Activation:
    found = {"relu": functions.relu, "gelu": functions.gelu}.get(given) if isinstance(given, str) else given
    if not callable(found):
        raise InputError(f"There is no activation {given!r}", hint="Give 'relu', 'gelu' or a function")
    return found


class _Layer(Module):
    """What both kinds have: attention of a sequence to itself, and a perceptron of each position."""

    self_attn: MultiheadAttention
    linear1: Linear
    dropout: Dropout
    linear2: Linear
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    activation: Activation = static()
    norm_first: bool = static()

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first, rng)
        self.linear1 = Linear(d_model, dim_feedforward, bias, rng)
        self.linear2 = Linear(dim_feedforward, d_model, bias, rng)
        self.norm1, self.norm2 = (LayerNorm(d_model, layer_norm_eps, bias=bias) for _ in range(2))
        self.dropout, self.dropout1, self.dropout2 = (Dropout(dropout) for _ in range(3))
        self.activation, self.norm_first = _activation(activation), norm_first

    def _around(self, x: Array, norm: LayerNorm, block: Callable[[Array], Array]) -> Array:
        """``x`` plus a block, normalized before it or after the sum."""
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))

    def _perceptron(self, x: Array, last: Dropout) -> Array:
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a perceptron of ``dim_feedforward``, each with a residual connection and normalized after it,
    or before with ``norm_first``.

    Sequences are [T, B, E], or with ``batch_first`` [B, T, E]. Parameters, defaults and names are torch's.
    """

    def __call__(self, x: Any, mask: Any = None, causal: bool = False) -> Array:
        """``mask`` and ``causal`` as of ``MultiheadAttention``: False where a query does not see a key, or what is
        added to the scores; torch's Boolean masks say the opposite."""
        attend = lambda y: self.dropout1(self.self_attn(y, mask=mask, causal=causal))  # noqa: E731
        seen = self._around(as_array(x), self.norm1, attend)
        return self._around(seen, self.norm2, lambda y: self._perceptron(y, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a ``memory`` such as an encoder's output, and a perceptron, as in
    ``TransformerEncoderLayer``."""

    multihead_attn: MultiheadAttention
    norm3: LayerNorm
    dropout3: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, rng
        )
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first, rng)
        self.norm3, self.dropout3 = LayerNorm(d_model, layer_norm_eps, bias=bias), Dropout(dropout)

    def __call__(
        self, x: Any, memory: Any, mask: Any = None, memory_mask: Any = None, causal: bool = False
    ) -> Array:
        """``mask`` and ``causal`` are of the sequence, ``memory_mask`` of the memory."""
        attend = lambda y: self.dropout1(self.self_attn(y, mask=mask, causal=causal))  # noqa: E731
        look = lambda y: self.dropout2(self.multihead_attn(y, memory, memory, memory_mask))  # noqa: E731
        seen = self._around(as_array(x), self.norm1, attend)
        seen = self._around(seen, self.norm2, look)
        return self._around(seen, self.norm3, lambda y: self._perceptron(y, self.dropout3))


def _copies(layer: Module, count: int) -> tuple[Any, ...]:
    """As many layers with the same first weights.

    Raises:
        InputError: a class, or no layer at all.
    """
    if not isinstance(layer, Module) or count < 1:
        what = f"A transformer cannot have {count} layers that are {layer!r:.40}"
        raise InputError(what, hint="Give a layer such as TransformerEncoderLayer(512, 8), and a number from 1 on")
    leaves, structure = trees.flatten(layer)
    return tuple(trees.unflatten(structure, leaves) for _ in range(count))


class TransformerEncoder(Module):
    """``num_layers`` copies of an encoder layer, one after another, and a ``norm`` at the end."""

    layers: tuple[TransformerEncoderLayer, ...]
    norm: Module | None

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Module | None = None) -> None:
        self.layers, self.norm = _copies(encoder_layer, num_layers), norm

    def __call__(self, x: Any, mask: Any = None, causal: bool = False) -> Array:
        """As of the layers."""
        for layer in self.layers:
            x = layer(x, mask, causal)
        return x if self.norm is None else self.norm(x)  # type: ignore[operator]


class TransformerDecoder(Module):
    """``num_layers`` copies of a decoder layer, one after another, and a ``norm`` at the end."""

    layers: tuple[TransformerDecoderLayer, ...]
    norm: Module | None

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        self.layers, self.norm = _copies(decoder_layer, num_layers), norm

    def __call__(
        self, x: Any, memory: Any, mask: Any = None, memory_mask: Any = None, causal: bool = False
    ) -> Array:
        """As of the layers."""
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask, causal)
        return x if self.norm is None else self.norm(x)  # type: ignore[operator]
