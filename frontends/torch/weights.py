"""Parameters, buffers and constants of a program: entries of the weight store that read torch's memory."""

from __future__ import annotations

from collections.abc import Callable

import torch

from mlc.dialects.types import numpy_dtype
from mlc.dialects.weights import WeightStore
from mlc.frontends.build.folding.fold import KNOWN_LIMIT
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex, array_of, element_of_torch


def weight(store: WeightStore, name: str, tensor: torch.Tensor) -> Tensor | Complex:
    """A tensor of the program; its data is read when the weights file is written, and never copied before. The parts of
    complex ones are, as their elements alternate in memory.

    Raises:
        NotSupported: its dtype is not, or it is sparse.
    """
    if tensor.is_complex():
        parts = tensor.detach().resolve_conj()
        return Complex(*(_real(store, f"{name}.{n}", getattr(parts, n).contiguous()) for n in ("real", "imag")))
    return _real(store, name, tensor)


def _real(store: WeightStore, name: str, tensor: torch.Tensor) -> Tensor:
    element, shape = element_of_torch(tensor.dtype), tuple(tensor.shape)
    if tensor.numel() <= KNOWN_LIMIT:
        return Tensor.from_known(array_of(tensor), element, name)
    return Tensor(element, shape, store=_once(lambda: _added(store, name, element, tensor)), name=name)


def _added(store: WeightStore, name: str, element: str, tensor: torch.Tensor) -> str:
    return store.add_lazy(name, numpy_dtype(element), tuple(tensor.shape), lambda: array_of(tensor))


def _once(make: Callable[[], str]) -> Callable[[], str]:
    """``make``, called on the first use only."""
    made: list[str] = []

    def entry() -> str:
        if not made:
            made.append(make())
        return made[0]

    return entry
