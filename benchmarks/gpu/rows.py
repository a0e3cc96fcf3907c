"""Reductions and normalizations of symbolic extents on a GPU: time, bandwidth, and torch's time beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.parser

from benchmarks.gpu.advance import compiled
from benchmarks.gpu.measurements import Row, judged, results_on
from benchmarks.gpu.peers import torch_on_gpu
from benchmarks.gpu.timing import timed
from mlc.tools.cuda_device import Device

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A function of ``x`` [n, m]: the type of its result, its nodes, and the same in NumPy and torch."""

    result: str
    nodes: str
    numpy: Callable[[Array], Array]
    torch: Callable[[Any, Any], Any]


def _softmax(x: Array) -> Array:
    terms = np.exp(x - x.max(1, keepdims=True))
    return np.asarray(terms / terms.sum(1, keepdims=True))


CASES = {
    "softmax": Case("[n,m]", "y = Softmax (x)", _softmax, lambda t, x: t.softmax(x, 1)),
    "columns": Case(
        "[1,m]", "a = Constant <value_ints = [0]> () y = ReduceSum (x, a)",
        lambda x: x.sum(0, keepdims=True), lambda t, x: t.sum(x, 0, keepdim=True),
    ),
    "total": Case("[1,1]", "y = ReduceMax (x)", lambda x: x.max().reshape(1, 1), lambda t, x: t.max(x)),
    "running sums": Case(
        "[n,m]", "a = Constant <value_int = 1> () y = CumSum (x, a)",
        lambda x: x.cumsum(1), lambda t, x: t.cumsum(x, 1),
    ),
}  # fmt: skip
SIZES = ((4096, 1024), (1, 50257))


def measured(
    device: Device, target: str, runs: int, sizes: tuple[tuple[int, int], ...]
) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row of each case and size."""
    for name in CASES:
        for size in sizes:
            yield f"{name} {size}", lambda name=name, size=size: _row(device, name, size, target, runs)  # type: ignore[misc]


def model(name: str) -> onnx.ModelProto:
    case = CASES[name]
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float[n,m] x) => (float{case.result} y) {{ {case.nodes} }}'
    return onnx.parser.parse_model(text)


def _row(device: Device, name: str, size: tuple[int, int], target: str, runs: int) -> Row:
    case, x = CASES[name], np.random.default_rng(0).standard_normal(size).astype(np.float32)
    wanted = case.numpy(x.astype(np.float64))
    with compiled(model(name), target=target) as net:
        seconds, out = results_on(device, net, {"x": x}, runs)
        found = out["y"].astype(np.float64)
    theirs = _torch(device, case, x, runs)
    return {
        "case": name,
        "size": f"{size[0]}x{size[1]}",
        "µs": round(1e6 * seconds, 2),
        "GB/s": round(1e-9 * 4 * (x.size + wanted.size) / seconds, 1),
        **judged(found, wanted, "float32"),
        "torch µs": theirs and round(1e6 * theirs, 2),
        "speed of torch": theirs and round(theirs / seconds, 3),
    }


def _torch(device: Device, case: Case, x: Array, runs: int) -> float | None:
    """Seconds of torch's function of the same data; None where torch has no GPU."""
    torch = torch_on_gpu()
    if torch is None:
        return None
    value = torch.from_numpy(x).cuda()
    return timed(device, lambda: case.torch(torch, value), runs)
