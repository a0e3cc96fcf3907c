"""Functions of all elements up to each one along an axis: sums, products, extremes, log-sums."""

from __future__ import annotations

from typing import Any

from mlc.frontends.build.ops.indexing import running, sorting
from mlc.frontends.build.ops.shapes.axes import around_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten


@aten("cumsum", "cumprod")
def cumulative(call: Call, x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    if not x.rank:
        return x
    rows = call.build.reshape(call.tensor(x), around_axis(call.build, x.shape, dim))
    y = sorting.cumulative(call.build, "add" if call.op == "cumsum" else "mul", rows)
    return call.build.reshape(call.tensor(y), x.shape)


@aten("cummax", "cummin")
def running_extreme(call: Call, x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    if not x.rank:
        return x, call.build.constant(0, "i64")
    return running.running_extreme(call.build, call.op.removeprefix("cum"), x, call.axes(x, dim)[0])


@aten("logcumsumexp", "_logcumsumexp")
def running_log_sum(call: Call, x: Tensor, dim: int) -> Tensor:
    return running.running_log_sum_exp(call.build, x, call.axes(x, dim)[0]) if x.rank else x
