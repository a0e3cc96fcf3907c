"""Special functions, by those of arrays (``frontends/array/special``): gamma, error and Bessel functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mlc.frontends.array.array import Array
from mlc.frontends.array.compositions import arithmetic
from mlc.frontends.array.further import bits
from mlc.frontends.array.special import bessel, entropies, errors, gammas, incomplete
from mlc.frontends.build.ops import gamma
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.registry import REGISTRY, Call, Operand, aten

Function = Callable[..., Array]
BY_ARRAYS: dict[str, Function] = {
    "erfinv": errors.erfinv,
    "i0": bessel.i0,
    "sinc": arithmetic.sinc,
    "igamma": incomplete.gammainc,
    "igammac": incomplete.gammaincc,
    "special_entr": entropies.entr,
    "special_erfcx": errors.erfcx,
    "special_i0e": bessel.i0e,
    "special_i1": bessel.i1,
    "special_i1e": bessel.i1e,
    "special_log_ndtr": errors.log_ndtr,
    "special_modified_bessel_i0": bessel.i0,
    "special_modified_bessel_i1": bessel.i1,
    "special_ndtri": errors.ndtri,
    "special_xlog1py": entropies.xlog1py,
    "special_zeta": gammas.zeta,
}
"""Operators that are functions on arrays; of a number and a tensor, too."""


def _by_arrays(function: Function, call: Call, *xs: Operand) -> Tensor:
    found: Tensor = by_arrays(call.build, function, *call.tensors(*xs))
    return found


REGISTRY.update({name: partial(_by_arrays, function) for name, function in BY_ARRAYS.items()})


@aten("frexp")
def mantissa_and_exponent(call: Call, x: Tensor) -> list[Tensor]:
    found: list[Tensor] = by_arrays(call.build, bits.frexp, x)
    return found


@aten("lgamma", "special_gammaln")
def log_gamma(call: Call, x: Tensor) -> Tensor:
    return gamma.log_gamma(call.build, call.tensor(x))


@aten("digamma", "special_digamma", "special_psi")
def digamma(call: Call, x: Tensor) -> Tensor:
    return gamma.digamma(call.build, call.tensor(x))


@aten("polygamma", "special_polygamma")
def polygamma(call: Call, n: int, x: Tensor) -> Tensor:
    return gamma.polygamma(call.build, n, call.tensor(x))
