"""Activations as layers: each calls the function of its name. Source: torch.nn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn import activations as functions
from mlc.frontends.array.nn import further_activations as further
from mlc.nn import init
from mlc.nn.module import Module, static


def _plain(name: str, function: Callable[..., Any]) -> Any:
    """A layer without parameters."""

    def __call__(self: Module, x: Any) -> Any:
        return function(x)

    doc = f"``nn.{function.__name__}`` as a layer."
    return type(name, (Module,), {"__call__": __call__, "__doc__": doc, "__module__": __name__})


def _named(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(functions, name, None) or getattr(further, name)
    return found


ReLU, ReLU6, SiLU, Sigmoid = (_plain(n, _named(n.lower())) for n in ("ReLU", "ReLU6", "SiLU", "Sigmoid"))
SELU, Mish, Softplus, Softsign = (_plain(n, _named(n.lower())) for n in ("SELU", "Mish", "Softplus", "Softsign"))
Tanh = _plain("Tanh", mnp.tanh)
Hardswish, Hardsigmoid = _plain("Hardswish", _named("hard_swish")), _plain("Hardsigmoid", _named("hard_sigmoid"))
Hardtanh, LogSigmoid = _plain("Hardtanh", _named("hard_tanh")), _plain("LogSigmoid", _named("log_sigmoid"))


class GELU(Module):
    """``x`` times the normal distribution's cumulative one; ``approximate="tanh"`` by a hyperbolic tangent."""

    approximate: str = static(default="none")

    def __call__(self, x: Any) -> Array:
        return functions.gelu(x, approximate=self.approximate == "tanh")


class LeakyReLU(Module):
    """``x``, times ``negative_slope`` below 0."""

    negative_slope: float = static(default=0.01)

    def __call__(self, x: Any) -> Array:
        given = as_array(x)
        return mnp.where(given > 0, given, self.negative_slope * given)


class ELU(Module):
    """``x``, and ``alpha (exp(x) - 1)`` below 0."""

    alpha: float = static(default=1.0)

    def __call__(self, x: Any) -> Array:
        given = as_array(x)
        return mnp.where(given > 0, given, self.alpha * mnp.expm1(mnp.minimum(given, 0.0)))


class Softmax(Module):
    """Shares that sum to 1 along ``dim``."""

    dim: int = static(default=-1)

    def __call__(self, x: Any) -> Array:
        return functions.softmax(x, axis=self.dim)


class LogSoftmax(Module):
    """Logarithms of shares that sum to 1 along ``dim``."""

    dim: int = static(default=-1)

    def __call__(self, x: Any) -> Array:
        return functions.log_softmax(x, axis=self.dim)


class PReLU(Module):
    """``x``, times a trained number below 0: one for all channels, or one for each. Source: He et al., 2015."""

    weight: Array

    def __init__(self, num_parameters: int = 1, init_value: float = 0.25) -> None:
        self.weight = init.constant((num_parameters,), init_value)

    def __call__(self, x: Any) -> Array:
        given = as_array(x)
        weight = mnp.reshape(self.weight, (-1, *(1,) * max(given.ndim - 2, 0)))
        return mnp.where(given > 0, given, weight * given)
