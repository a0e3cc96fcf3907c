"""Functions of all elements up to each one along an axis: sums, products, extremes, log-sums."""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.functions import running as arrays
from mlc.frontends.build.ops.indexing import running
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.registry import Call, aten


@aten("cumsum", "cumprod")
def cumulative(call: Call, x: Tensor, dim: int, *, dtype: Any = None) -> Any:
    if not x.rank:
        return x
    function = arrays.cumsum if call.op == "cumsum" else arrays.cumprod
    return by_arrays(call.build, lambda a: function(a, axis=dim), call.tensor(x))


@aten("cummax", "cummin")
def running_extreme(call: Call, x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    if not x.rank:
        return x, call.build.constant(0, "i64")
    return running.running_extreme(call.build, call.op.removeprefix("cum"), x, call.axes(x, dim)[0])


@aten("logcumsumexp", "_logcumsumexp")
def running_log_sum(call: Call, x: Tensor, dim: int) -> Tensor:
    return running.running_log_sum_exp(call.build, x, call.axes(x, dim)[0]) if x.rank else x
