"""Functions that the translations of linear algebra share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex
from mlc.frontends.torch.ops.math.complex import FORMULAS
from mlc.frontends.torch.registry import Call, Translation, aten


def matrix(*names: str) -> Callable[[Translation], Translation]:
    """Register a translation of operators of real and of complex matrices."""

    def register(function: Translation) -> Translation:
        FORMULAS.update(dict.fromkeys((name.partition(".")[0] for name in names), function))
        return aten(*names)(function)

    return register


def no_info(call: Call, x: Any) -> Tensor:
    """The ``info`` of LAPACK: 0 for each matrix, since nothing is reported."""
    batch = (x.re if isinstance(x, Complex) else x).shape[:-2]
    return call.build.broadcast(call.build.constant(0, "i32"), batch)
