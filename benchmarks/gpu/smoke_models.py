"""The smoke rows that are more than one product: graphs, open dimensions, state, attention, convolutions, training."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

import mlc
import mlc.numpy as mnp
from benchmarks import attention as attentions
from benchmarks.gpu import convolutions, gradients
from benchmarks.gpu.advance import compiled, compiled_by
from benchmarks.gpu.comparison import Row, compared, judged_whole
from benchmarks.gpu.measurements import ELEMENTS
from benchmarks.training import ours
from benchmarks.training_networks import NETWORKS
from mlc.tools.cuda_device import Device

Array = np.ndarray[Any, Any]
CLUSTER = "contraction: S0 S1 | m/64p n/64vp | k/64 | warps=4x1 copy=tma cluster=2x1"
CHAIN = """net (float16[256,{k}] x) => (float16[256,128] y) {{
    a = MatMul (x, w)  s = Softmax <axis = -1> (a)  y = MatMul (s, v) }}"""
OPEN = "net (float[n,72] x) => (float[n,40] y) { a = MatMul (x, w)  s = Softmax <axis = -1> (a)  y = MatMul (s, v) }"
ROWS = (300, 37, 300, 1)  # of runs of a model with an open dimension
STEPS = 3


def _model(text: str, **weights: Array) -> onnx.ModelProto:
    made = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]>\n{text}')
    made.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return made


def _softmax(x: Array) -> Array:
    terms = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(terms / terms.sum(-1, keepdims=True))


def _arrays(dtype: Any, *shapes: tuple[int, ...]) -> list[Array]:
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def cluster_in_graph(device: Device, target: str) -> Row:
    """Two products by clusters with a kernel between them: three nodes of one CUDA graph, whose addresses change."""
    x, w, v = _arrays(np.float16, (256, 200), (200, 136), (136, 128))
    lines = "".join(f"contract_{n}: {CLUSTER}\n" for n in (2, 4)) if target == "cuda:sm_90" else ""
    source = _model(CHAIN.format(k=200), w=w, v=v)
    between = _softmax((x.astype(np.float64) @ w).astype(np.float16).astype(np.float64))
    with compiled_by(source, {"clusters": lines}, target) as nets:
        return compared(device, nets["clusters"], {"x": x}, {"y": between @ v.astype(np.float64)}, error=4e-3)


def open_dimension(device: Device, target: str) -> Row:
    """Runs of several numbers of rows, each beside float64; a graph is kept for each number."""
    w, v = _arrays(np.float32, (72, 48), (48, 40))
    found: list[Row] = []
    with compiled(_model(OPEN, w=w, v=v), target=target) as net:
        for rows in ROWS:
            (x,) = _arrays(np.float32, (rows, 72))
            wanted = _softmax(x.astype(np.float64) @ w) @ v.astype(np.float64)
            found.append(compared(device, net, {"x": x}, {"y": wanted}, error=1e-5))
    return next((row for row in found if not row["right"]), found[0])


def state(device: Device, target: str) -> Row:
    """Steps of a program that owns its state in the device's memory."""

    def step(total: Any, x: Any) -> Any:
        return total * 0.5 + mnp.sum(x, axis=0), 2 * total + x[0]

    made = mlc.jit(step, state=("total",), target=target, wait=True).create(np.zeros(70, np.float32))
    total, runs, wanted = np.zeros(70), [], []
    for n in range(STEPS):
        x = np.random.default_rng(n).standard_normal((50, 70)).astype(np.float32)
        runs.append({"y": np.asarray(made(x))})
        wanted.append(2 * total + x[0].astype(np.float64))
        total = total * 0.5 + x.sum(0, dtype=np.float64)
    runs.append({"y": made.state[0]})
    rows = [judged_whole([run], {"y": y}) for run, y in zip(runs, [*wanted, total], strict=True)]
    return next((row for row in rows if not row["right"]), rows[0])


ATTENTION = {
    "attention": attentions.Shape(2, 1, 200, 200, 64, 64),
    "attention, causal": attentions.Shape(2, 1, 200, 200, 64, 64, causal=True, constant=True),
    "attention, masked, of 80": attentions.Shape(2, 1, 77, 109, 80, 80, causal=True),
    "attention, one query": attentions.Shape(4, 4, 1, 500, 64, 64),
    "attention, open": attentions.Shape(4, 4, 1, 500, 64, 64, open=True),
    "attention, dynamic": attentions.Shape(2, 1, 150, 150, 64, 64, causal=True, dynamic=True),
}


def attention(device: Device, target: str, shape: attentions.Shape) -> Row:
    arrays = [each.astype(np.float16) for each in attentions.arguments(shape)]
    inputs = dict(zip(("q", "k", "v", "mask"), arrays, strict=False))
    wanted = attentions.reference(shape, *(each.astype(np.float64) for each in arrays))
    with compiled(attentions.model(shape, ELEMENTS["float16"]), target=target) as net:
        return compared(device, net, inputs, {"y": wanted}, error=4e-3)


def attention_gradient(device: Device, target: str) -> Row:
    shape = attentions.Shape(2, 1, 130, 130, 64, 64, causal=True)
    return gradients.whole(device, shape, "float16", target)


CONVOLUTIONS = {"convolution 3x3": (2, 64, 14, 3), "convolution 1x1": (3, 72, 7, 1)}


def convolution(device: Device, target: str, case: convolutions.Case) -> Row:
    """All images of a chain, each element."""
    batch, channels, pixels, _ = case
    x = np.random.default_rng(1).standard_normal((batch, channels, pixels, pixels)).astype(np.float16)
    with compiled(convolutions.model(case), target=target) as net:
        return compared(device, net, {"x": x}, {"y": convolutions.in_float64(case, x)}, error=1e-2)


def training(device: Device | None, target: str, name: str = "mlp") -> Row:
    """Losses of the first steps with Adam, beside those of the same program on the CPU."""
    wanted, found = ([step() for _ in range(STEPS)] for step in (_step(name, "cpu"), _step(name, target)))
    error = max(abs(a - b) / max(abs(b), 1e-30) for a, b in zip(found, wanted, strict=True))
    return {"error": error, "right": bool(error < 1e-4), "losses": ", ".join(f"{x:.6f}" for x in found)}


def _step(name: str, target: str) -> Callable[[], float]:
    return ours(NETWORKS[name](np.random.default_rng(7)), 0, target)


MODELS: dict[str, Callable[[Device, str], Row]] = {
    "cluster in a graph": cluster_in_graph,
    "open dimension": open_dimension,
    "state": state,
    **{name: partial(attention, shape=shape) for name, shape in ATTENTION.items()},
    "attention's gradients": attention_gradient,
    **{name: partial(convolution, case=case) for name, case in CONVOLUTIONS.items()},
    "training step": training,
}
