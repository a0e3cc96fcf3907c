"""Attention with its gradients on a GPU: the cases, and each beside torch's ``scaled_dot_product_attention``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from benchmarks.attention import Shape
from benchmarks.attention_gradients import arguments, wanted
from benchmarks.gpu.comparison import compared
from benchmarks.gpu.measurements import Row, results_on
from benchmarks.gpu.peers import torch_on_gpu
from benchmarks.gpu.timing import timed
from mlc import nn
from mlc.dialects.types import numpy_dtype
from mlc.tools.cuda_device import Device
from mlc.tracing.traced import Traced

CASES = {
    "gradient_512x12x64": Shape(12, 1, 512, 512, 64, 64),
    "gradient_2048x12x64": Shape(12, 1, 2048, 2048, 64, 64),
    "gradient_causal_2048x12x64": Shape(12, 1, 2048, 2048, 64, 64, causal=True),
    "gradient_2048x32x128": Shape(32, 1, 2048, 2048, 128, 128),
}
"""Queries and keys × heads × elements."""
ELEMENTS = {"float32": "f32", "float16": "f16"}
ERROR = {"float32": 1e-5, "float16": 1e-2}  # of the largest value


def traced(shape: Shape, element: str, target: str, numerics: str = "default") -> Traced:
    """Forward and backward: the gradients of sum(y² · g) by queries, keys and values."""

    def loss(q: Any, k: Any, v: Any, g: Any) -> Any:
        y = nn.dot_product_attention(q, k, v, causal=shape.causal)
        return mnp.sum(mnp.astype(y, mnp.float32) ** 2 * mnp.astype(g, mnp.float32))

    s = shape
    dims = [(s.queries, s.size), (s.keys, s.size), (s.keys, s.value), (s.queries, s.value)]
    specs = [mlc.TensorSpec(element, (1, s.heads, *each)) for each in dims]
    jitted = mlc.jit(mlc.grad(loss, argnums=(0, 1, 2)), target=target, numerics=numerics, wait=True)  # type: ignore[arg-type]
    return jitted.lower(*specs)


def measured(device: Device, target: str, runs: int, cases: int | None) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row of each case, of at most so many, and element type."""
    for name, shape in [*CASES.items()][:cases]:
        for element in ELEMENTS:
            yield f"{name} {element}", lambda n=name, s=shape, e=element: _row(device, n, s, e, target, runs)  # type: ignore[misc]


def flops(shape: Shape) -> float:
    """The floating-point operations of the two products forward and the five backward."""
    return 2.0 * shape.heads * shape.queries * shape.keys * (4 * shape.size + 3 * shape.value)


def whole(device: Device, shape: Shape, element: str, target: str) -> Row:
    """All gradients beside float64, without time."""
    arrays = [each.astype(numpy_dtype(ELEMENTS[element])) for each in arguments(shape)]
    with traced(shape, element, target).model as net:
        expected = dict(zip(net.outputs, wanted(shape, arrays), strict=True))
        return compared(device, net, dict(zip("qkvg", arrays, strict=True)), expected, ERROR[element])


def _row(device: Device, name: str, shape: Shape, element: str, target: str, runs: int) -> Row:
    arrays = [each.astype(numpy_dtype(ELEMENTS[element])) for each in arguments(shape)]
    inputs = dict(zip("qkvg", arrays, strict=True))
    with traced(shape, element, target).model as net:
        seconds, out = results_on(device, net, inputs, runs)
        found = [each.astype(np.float64) for each in out.values()]
    expected = wanted(shape, arrays)
    pairs = zip(found, expected, strict=True)
    error = max(float(np.abs(ours - theirs).max() / np.abs(theirs).max()) for ours, theirs in pairs)
    theirs = _torch(device, shape, element, arrays, runs)
    return {
        "case": f"{name} {element}",
        "ms": round(1e3 * seconds, 4),
        "TFLOP/s": round(1e-12 * flops(shape) / seconds, 2),
        "error": error,
        "right": error < ERROR[element],
        "torch ms": theirs and round(1e3 * theirs, 4),
        "speed of torch": theirs and round(theirs / seconds, 3),
    }


def _torch(device: Device, shape: Shape, element: str, arrays: list[Any], runs: int) -> float | None:
    """Seconds of torch on the same data, by the backend that it chooses; None where torch has no GPU."""
    torch = torch_on_gpu()
    if torch is None:
        return None
    q, k, v, g = (torch.from_numpy(x).cuda() for x in arrays)
    inputs = [each.requires_grad_() for each in (q, k, v)]
    attend = torch.nn.functional.scaled_dot_product_attention

    def run() -> None:
        y = attend(*inputs, is_causal=shape.causal)
        torch.autograd.grad((y.float() ** 2 * g.float()).sum(), inputs)

    return timed(device, run, runs)
