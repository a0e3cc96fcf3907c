"""Special functions: the gamma function and its derivatives."""

from __future__ import annotations

from mlc.frontends.build.ops import gamma
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten


@aten("lgamma", "special_gammaln")
def log_gamma(call: Call, x: Tensor) -> Tensor:
    return gamma.log_gamma(call.build, call.tensor(x))


@aten("digamma", "special_digamma", "special_psi")
def digamma(call: Call, x: Tensor) -> Tensor:
    return gamma.digamma(call.build, call.tensor(x))


@aten("polygamma", "special_polygamma")
def polygamma(call: Call, n: int, x: Tensor) -> Tensor:
    return gamma.polygamma(call.build, n, call.tensor(x))
