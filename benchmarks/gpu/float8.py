"""Products of floats of 8 bits (E4M3) with one scale each: TFLOP/s by numerics, and beside ``torch._scaled_mm``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from ml_dtypes import float8_e4m3fn
from onnx import TensorProto, helper, numpy_helper

from benchmarks.gpu.advance import compiled
from benchmarks.gpu.measurements import Row, results_on, sampled
from benchmarks.gpu.timing import timed
from mlc.tools.cuda_device import Device

SIZES = [(4096, 4096, 4096), (8192, 8192, 8192), (128, 4096, 4096), (2048, 5120, 1280)]
SCALES = 0.5, 0.25  # of the left and of the right factor
ERROR = {"default": 1e-2, "relaxed": 1e-2}  # of the largest value: results are bfloat16
Array = np.ndarray[Any, Any]


def product_model(size: tuple[int, int, int], right: Array, across: bool = False) -> onnx.ModelProto:
    """``y = (a · 0.5) @ (b · 0.25).T`` in bfloat16, with ``b`` a weight, as quantizers of models write it; ``across``:
    its neighbours are columns, ``a @ b``."""
    m, n, k = size
    ends = [helper.make_tensor_value_info("a", TensorProto.FLOAT8E4M3FN, [m, k]),
            helper.make_tensor_value_info("y", TensorProto.BFLOAT16, [m, n])]  # fmt: skip
    scales = [numpy_helper.from_array(np.float32(s), name) for s, name in zip(SCALES, "st", strict=True)]
    nodes = [helper.make_node("DequantizeLinear", ["a", "s"], ["c"]),
             helper.make_node("DequantizeLinear", ["b", "t"], ["d"]),
             helper.make_node("Gemm", ["c", "d"], ["p"], transB=int(not across)),
             helper.make_node("Cast", ["p"], ["y"], to=TensorProto.BFLOAT16)]  # fmt: skip
    graph = helper.make_graph(nodes, "product", ends[:1], ends[1:], [*scales, numpy_helper.from_array(right, "b")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def measured(
    device: Device, target: str, runs: int, sizes: list[tuple[int, int, int]]
) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row for each product and numerics."""
    for size in sizes:
        for numerics in ERROR:
            for across in (False, True):
                yield (
                    f"{numerics} {size}{' across' if across else ''}",
                    lambda s=size, n=numerics, x=across: _row(device, s, n, target, runs, x),  # type: ignore[misc]
                )


def _row(device: Device, size: tuple[int, int, int], numerics: Any, target: str, runs: int, across: bool) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    a, b = (random.normal(size=shape).astype(np.float32).astype(float8_e4m3fn) for shape in ((m, k), (n, k)))
    weight = np.ascontiguousarray(b.T) if across else b
    with compiled(product_model(size, weight, across), target=target, numerics=numerics) as net:
        seconds, out = results_on(device, net, {"a": a}, runs)
        found = out["y"].astype(np.float64)
    rows = sampled(m)
    wanted = SCALES[0] * SCALES[1] * (a[rows].astype(np.float64) @ b.astype(np.float64).T)
    error = float(np.abs(found[rows] - wanted).max() / np.abs(wanted).max())
    row = {"product": f"{m}x{n}x{k}", "numerics": numerics, "weight": "[k, n]" if across else "[n, k]",
           "TFLOP/s": round(2e-12 * m * n * k / seconds, 2),
           "error": error, "right": error < ERROR[numerics]}  # fmt: skip
    theirs = scaled_mm(device, a, b, fast=numerics == "relaxed", runs=runs)
    return row | {"torch TFLOP/s": theirs and round(2e-12 * m * n * k / theirs, 2),
                  "speed of torch": theirs and round(theirs / seconds, 3)}  # fmt: skip


def scaled_mm(device: Device, a: Array, b: Array, fast: bool, runs: int) -> float | None:
    """Seconds of ``torch._scaled_mm`` on the same data, ``fast``: without promotion of sums; None where torch has no
    GPU or no such product."""
    try:
        torch = importlib.import_module("torch")
        torch.cuda.set_stream(torch.cuda.default_stream())
        x, y = (torch.from_numpy(each.view(np.uint8)).cuda().view(torch.float8_e4m3fn) for each in (a, b))
        s, t = (torch.tensor(scale, device="cuda") for scale in SCALES)

        def run() -> Any:
            return torch._scaled_mm(x, y.t(), s, t, out_dtype=torch.bfloat16, use_fast_accum=fast)

        run()
    except Exception:
        return None
    return timed(device, run, runs)
