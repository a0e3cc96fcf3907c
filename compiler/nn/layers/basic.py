"""Linear, Embedding, Dropout, Sequential and layers without parameters. Source: torch.nn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.attention import embedding
from mlc.frontends.array.random.distributions import bernoulli
from mlc.frontends.array.transforms.custom import stop_gradient
from mlc.nn import init
from mlc.nn.module import Module, inlined, next_key, reads_of_call, static


class Linear(Module):
    """``x @ weight.T + bias`` along the last axis; ``weight`` [out, in], ``bias`` [out]."""

    weight: Array
    bias: Array | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, rng: np.random.Generator | None = None
    ) -> None:
        self.weight = init.by_inputs((out_features, in_features), in_features, rng)
        self.bias = init.by_inputs((out_features,), in_features, rng) if bias else None

    def __call__(self, x: Any) -> Array:
        return linear(x, self.weight, self.bias)


def linear(x: Any, weight: Any, bias: Any = None, /) -> Array:
    """``x @ weight.T + bias`` along the last axis, for ``weight`` [out, in]."""
    y = mnp.matmul(as_array(x), as_array(weight).mT)
    return y if bias is None else y + bias


class Embedding(Module):
    """Rows of ``weight`` [V, D]: [..., D] for indices [...].

    ``padding_idx``: a row that begins as zeros and has no gradient; from the end where it is negative. ``sparse``: a
    step of ``train.Trainer`` updates the rows alone that its batch reads, their moments too (torch.optim.SparseAdam).
    """

    weight: Array
    padding_idx: int | None = static(default=None)
    sparse: bool = static(default=False)

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        rng: np.random.Generator | None = None,
        sparse: bool = False,
    ) -> None:
        self.sparse = sparse
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            what = f"padding_idx={padding_idx} is none of {num_embeddings} embeddings"
            raise InputError(what, hint=f"Give a number from {-num_embeddings} to {num_embeddings - 1}")
        self.weight = init.normal((num_embeddings, embedding_dim), rng=rng)
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        if padding_idx is not None:
            elements = self.weight.numpy().copy()
            elements[padding_idx] = 0
            self.weight = as_array(elements)

    def __call__(self, indices: Any) -> Array:
        found = embedding(indices, self.weight)
        if self.sparse and (reads := reads_of_call()) is not None:
            return reads(self, as_array(indices), found)
        if self.padding_idx is None:
            return found
        return mnp.where((as_array(indices) == self.padding_idx)[..., None], stop_gradient(found), found)


class Dropout(Module):
    """In training, zeros with probability ``p``, and the others divided by 1 - p. Source: Srivastava et al., 2014."""

    p: float = static(default=0.5)

    def __call__(self, x: Any, key: Any = None) -> Array:
        """``key``: of the random numbers; without one it is derived from that of ``nn.functional_call``.

        Raises:
            InputError: training without a key, or a probability that is not from 0 to 1.
        """
        given = as_array(x)
        if not 0 <= self.p < 1:
            what = f"Dropout with probability {self.p}, which is not from 0 to before 1"
            raise InputError(what, hint="Give one from 0 to before 1")
        if not self.training or self.p == 0:
            return given
        kept = bernoulli(next_key("Dropout") if key is None else key, 1 - self.p, self.drawn(given.shape))
        return mnp.where(kept, given / (1 - self.p), 0.0)

    def drawn(self, shape: Any) -> Any:
        """The shape of what is drawn."""
        return shape


class ChannelDropout(Dropout):
    """In training, whole channels [N, C, X…] as zeros with probability ``p``. Source: Tompson et al., 2015."""

    def drawn(self, shape: Any) -> Any:
        return (*shape[:2], *(1 for _ in shape[2:]))


Dropout1d = Dropout2d = Dropout3d = ChannelDropout


class Lambda(Module):
    """A function as a layer; ``Sequential`` makes one of each function."""

    function: Callable[..., Any] = static()

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


class Identity(Module):
    """What it is given."""

    def __call__(self, x: Any) -> Any:
        return x


class Flatten(Module):
    """Dimensions from ``start_dim`` on as one."""

    start_dim: int = static(default=1)

    def __call__(self, x: Any) -> Array:
        given = as_array(x)
        return mnp.reshape(given, (*given.shape[: self.start_dim], -1))


def _layer(n: int, given: Any) -> Module:
    if isinstance(given, Module):
        return given
    if isinstance(given, type):
        hint = f"Give an instance, {given.__name__}(…)"
        raise InputError(f"Layer {n} of Sequential is the class {given.__name__}", hint=hint)
    if not callable(given):
        hint = "Give layers and functions: Sequential(a, b), not a list"
        raise InputError(f"Layer {n} of Sequential is a {type(given).__name__}", hint=hint)
    return Lambda(given)


class Sequential(Module):
    """Layers and functions, one after another; their names are their numbers.

    Raises:
        InputError: one is a class, or cannot be called.
    """

    layers: tuple[Module, ...] = inlined()

    def __init__(self, *layers: Callable[..., Any]) -> None:
        self.layers = tuple(_layer(n, each) for n, each in enumerate(layers))

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)  # type: ignore[operator]
        return x

    def __getitem__(self, index: int) -> Module:
        return self.layers[index]

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Module]:
        return iter(self.layers)
