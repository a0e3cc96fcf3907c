"""The measurements: each is a row of its table, as a dictionary."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.gpu.advance import compiled
from benchmarks.gpu.device import DeviceArray
from benchmarks.gpu.peers import torch_on_gpu
from benchmarks.gpu.references import reference
from benchmarks.gpu.timing import timed
from benchmarks.models import build, small
from mlc.runtime import Model
from mlc.runtime.exprs import evaluate
from mlc.tools.cuda_device import Device
from mlc.tools.random_inputs import random_inputs

Row = dict[str, Any]
KERNEL = "contract_1"  # of the product of an input and a weight
CHAIN = 64  # dependent launches in the model that measures the cost of one
ELEMENTS = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}


def outputs_on(device: Device, net: Model, inputs: dict[str, Any]) -> dict[str, DeviceArray]:
    """Memory of the device for the outputs of a run without run-time dimensions."""
    dims = {d: n for name, s in net.inputs.items() for d, n in zip(s.shape, inputs[name].shape, strict=True) if d != n}
    sizes = {str(d): n for d, n in dims.items()}
    shapes = {name: tuple(evaluate(d, sizes) for d in spec.shape) for name, spec in net.outputs.items()}
    return {name: DeviceArray(device, np.zeros(shapes[name], spec.dtype)) for name, spec in net.outputs.items()}


def on_device(device: Device, net: Model, inputs: dict[str, Any], runs: int) -> float:
    """Seconds of a run with tensors in the device's memory."""
    return results_on(device, net, inputs, runs)[0]


def results_on(
    device: Device, net: Model, inputs: dict[str, Any], runs: int
) -> tuple[float, dict[str, np.ndarray[Any, Any]]]:
    """Seconds of a run with tensors in the device's memory, and the outputs of the last one."""
    given = {name: DeviceArray(device, array) for name, array in inputs.items()}
    out = outputs_on(device, net, inputs)

    def run() -> None:
        net.run_device(given, out)

    seconds = timed(device, run, runs)
    return seconds, {name: each.numpy() for name, each in out.items()}


def correctness(device: Device, target: str, runs: int) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Small models of every family: the largest difference from a reference, and how long runs take."""
    for name, options in small.OPTIONS.items():
        yield name, lambda name=name, options=options: _model(device, name, options, target, runs)  # type: ignore[misc]


def _model(device: Device, name: str, options: dict[str, Any], target: str, runs: int) -> Row:
    source = build(name, **options)
    start = time.perf_counter()
    with compiled(source, target=target) as net:
        loaded = time.perf_counter() - start
        inputs = random_inputs(net, 0, {})
        found = net.run(inputs)
        wanted, judge = reference(source, inputs, list(found))
        error = max(float(np.abs(found[k] - wanted[k]).max() / max(np.abs(wanted[k]).max(), 1e-30)) for k in wanted)
        launches = net.profile(**inputs)
        return {
            "model": name,
            "beside": judge,
            "compile s": round(loaded, 2),
            "error": error,
            "right": error < 1e-4,
            "launches": len(launches),
            "kernels ms": round(sum(ns for _, ns in launches) / 1e6, 4),
            "run ms": round(1e3 * on_device(device, net, inputs, runs), 4),
        }


def sampled(rows: int) -> np.ndarray[Any, Any]:
    """64 rows, the first, the last and those between at equal distances: some of each tile of 128 of 8192."""
    return np.unique(np.linspace(0, rows - 1, 64).astype(int))


def judged(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], element: str, limit: float | None = None) -> Row:
    """The largest difference as a part of the largest value; right up to ``limit``, or what the element type allows."""
    limit = limit or (1e-4 if element == "float32" else 1e-2)
    error = float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30))
    return {"error": error, "right": error <= limit}  # a NaN is wrong


def launch_cost(device: Device, target: str, runs: int) -> Row:
    """A chain of small dependent kernels in one graph: microseconds of each, and of a call of the model."""
    nodes = [helper.make_node("Softmax", [f"x{n}"], [f"x{n + 1}"]) for n in range(CHAIN)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 32]) for name in ("x0", f"x{CHAIN}")]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with compiled(source, target=target) as net:
        inputs = {"x0": np.random.default_rng(0).normal(size=(4, 32)).astype(np.float32)}
        count = len(net.signature["kernels"])
        seconds = on_device(device, net, inputs, runs)
        start = time.perf_counter()
        for _ in range(runs):
            net.run(inputs)
        call = (time.perf_counter() - start) / runs
    return {"launches": count, "us a launch in a graph": round(1e6 * seconds / max(count, 1), 3),
            "us a call with host tensors": round(1e6 * call, 1)}  # fmt: skip


def products(
    device: Device, target: str, runs: int, sizes: list[tuple[int, int, int]], elements: Sequence[str]
) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Matrix products: TFLOP/s, and the ratio to torch's (cuBLAS) measured in the same call where it is installed."""
    for element in elements:
        for m, n, k in sizes:
            yield (
                f"{element} {m}x{n}x{k}",
                lambda e=element, m=m, n=n, k=k: _product(device, e, (m, n, k), target, runs),  # type: ignore[misc]
            )


def _product(device: Device, element: str, size: tuple[int, int, int], target: str, runs: int) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    dtype = getattr(importlib.import_module("ml_dtypes"), element) if element == "bfloat16" else np.dtype(element)
    a, b = (random.standard_normal(shape, np.float32) / np.float32(k**0.25) for shape in ((m, k), (k, n)))
    left, right = a.astype(dtype), b.astype(dtype)
    with compiled(product_model(element, size, right), target=target) as net:
        seconds, out = results_on(device, net, {"a": left}, runs)
        found = out["y"].astype(np.float32)
    rows = sampled(m)
    wanted = left[rows].astype(np.float64) @ right.astype(np.float64)
    row = {"product": f"{element} {m}x{n}x{k}", "ms": round(1e3 * seconds, 4),
           "TFLOP/s": round(2e-12 * m * n * k / seconds, 2), **judged(found[rows], wanted, element)}  # fmt: skip
    if (whole := torch_result(element, a, b)) is not None and row["right"]:
        beside = judged(found, whole, element)
        row |= {"from torch": beside["error"], "right": beside["right"]}
    theirs = torch_product(device, element, a, b, runs)
    return row | {"torch TFLOP/s": theirs and round(2e-12 * m * n * k / theirs, 2),
                  "speed of torch": theirs and round(theirs / seconds, 3)}  # fmt: skip


def measured_product(
    device: Device, net: Model, inputs: dict[str, np.ndarray[Any, Any]], wanted: np.ndarray[Any, Any], runs: int
) -> tuple[float, Row]:
    """Seconds of a product of halves, and how far all of ``y`` is from what is wanted."""
    seconds, out = results_on(device, net, inputs, runs)
    return seconds, judged(out["y"].astype(np.float32), wanted, "float16")


def product_model(element: str, size: tuple[int, int, int], right: np.ndarray[Any, Any]) -> onnx.ModelProto:
    """``y = a @ b`` with ``b`` a weight."""
    m, n, k = size
    ends = [
        helper.make_tensor_value_info(name, ELEMENTS[element], shape) for name, shape in (("a", [m, k]), ("y", [m, n]))
    ]
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    graph = helper.make_graph([node], "product", ends[:1], ends[1:], [numpy_helper.from_array(right, "b")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def torch_product(
    device: Device, element: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], runs: int
) -> float | None:
    """Seconds of torch's product on the same data; None where torch has no GPU."""
    torch = torch_on_gpu()
    if torch is None:
        return None
    dtype = getattr(torch, element)
    x, y = (torch.from_numpy(each).cuda().to(dtype) for each in (a, b))
    out = x @ y
    return timed(device, lambda: torch.matmul(x, y, out=out), runs)


def torch_result(element: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """All of torch's product in f32; None where torch has no GPU."""
    if (torch := torch_on_gpu()) is None:
        return None
    x, y = (torch.from_numpy(each).cuda().to(getattr(torch, element)) for each in (a, b))
    return np.asarray((x @ y).float().cpu().numpy())
