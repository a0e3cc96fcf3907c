"""Whole models and training steps on a GPU, beside ``torch.compile`` with CUDA graphs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import onnx

from benchmarks.gpu.advance import compiled
from benchmarks.gpu.measurements import Row, judged, on_device, results_on
from benchmarks.gpu.peers import beside, recorded, torch_on_gpu
from benchmarks.gpu.timing import timed
from benchmarks.models import build
from benchmarks.models.halves import halved
from benchmarks.training import ours, torchs
from benchmarks.training_networks import NETWORKS, Network
from mlc.tools.cuda_device import Device
from mlc.tools.gpu_peak import copy_rate
from mlc.tools.random_inputs import random_inputs

Rows = Iterator[tuple[str, Callable[[], Row]]]
FIRST = [("resnet50", "float16", 1), ("bert", "float16", 32), ("resnet50", "float16", 32), ("bert", "float16", 1)]
REST = [(name, "float32", batch) for name in ("resnet50", "bert", "vit") for batch in (1, 32)]
DECODER = {"layers": 4, "hidden": 2048, "heads": 32, "groups": 8, "inner": 5632, "vocabulary": 16000, "past": 1023}
STEPS = ("bert6", "resnet18", "mlp")
SAMPLES = 0.2  # seconds of training steps that are timed together


def models(device: Device, target: str, runs: int, cases: list[tuple[str, str, int]]) -> Rows:
    """Milliseconds of a run of a model in its real size, with inputs and outputs in the device's memory."""
    for name, element, batch in cases:
        yield f"{name} {element} batch {batch}", partial(_model, device, name, element, batch, target, runs)


def _source(name: str, element: str, **options: Any) -> onnx.ModelProto:
    made = build(name, **options)
    return halved(made) if element == "float16" else made


def _model(device: Device, name: str, element: str, batch: int, target: str, runs: int) -> Row:
    source, start = _source(name, element, batch=batch), time.perf_counter()
    with compiled(source, target=target) as net:
        loaded = time.perf_counter() - start
        inputs = random_inputs(net, 0, {})
        seconds, out = results_on(device, net, inputs, runs)
        launches = len(net.signature["kernels"])
    found, ms = [*out.values()], 1e3 * seconds
    row = {"model": name, "element": element, "batch": batch, "ms": round(ms, 4), "launches": launches,
           "compile s": round(loaded, 1)}  # fmt: skip
    return row | _torch(device, source, inputs, found, element, runs, ms)


def _torch(
    device: Device, source: onnx.ModelProto, inputs: dict[str, Any], found: list[Any], element: str, runs: int,
    ms: float,
) -> Row:  # fmt: skip
    """The difference from torch's outputs, and its time in a CUDA graph; nothing where torch has no GPU."""
    if (torch := torch_on_gpu()) is None:
        return {}
    module, given = _module(torch, source, inputs)
    with torch.inference_mode():
        wanted = [each.double().cpu().numpy() for each in module(given)]
        pairs = zip(found, wanted, strict=True)
        error = max((judged(x.astype(np.float64), y, element) for x, y in pairs), key=lambda each: each["error"])
        return error | beside(lambda: _times(1e3 * timed(device, recorded(torch, lambda: module(given)), runs), ms))


def _module(torch: Any, source: onnx.ModelProto, inputs: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The model in torch, images and filters with channels last, as cuDNN takes halves, and its inputs."""
    from benchmarks.torch_graph import graph_module

    last = torch.channels_last
    module = graph_module(source).cuda().to(memory_format=last)
    given = [torch.from_numpy(inputs[each.name]).cuda() for each in source.graph.input]
    return module, [each.contiguous(memory_format=last) if each.dim() == 4 else each for each in given]


def _times(theirs: float, ms: float) -> Row:
    return {"torch ms": round(theirs, 4), "speed of torch": round(theirs / ms, 3)}


def beside_compiled(device: Device, target: str, runs: int, cases: list[tuple[str, str, int]]) -> Rows:
    """The same beside ``torch.compile``, which takes long to compile."""
    for name, element, batch in cases:
        what = f"torch.compile {name} {element} batch {batch}"
        yield what, partial(_beside_compiled, device, name, element, batch, target, runs)


def _beside_compiled(device: Device, name: str, element: str, batch: int, target: str, runs: int) -> Row:
    source = _source(name, element, batch=batch)
    with compiled(source, target=target) as net:
        inputs = random_inputs(net, 0, {})
        ms = 1e3 * on_device(device, net, inputs, runs)
    row = {"model": name, "element": element, "batch": batch, "ms": round(ms, 4)}
    return row | beside(lambda: _compiled(device, source, inputs, runs, ms))


def _compiled(device: Device, source: onnx.ModelProto, inputs: dict[str, Any], runs: int, ms: float) -> Row:
    if (torch := torch_on_gpu()) is None:
        return {}
    module, given = _module(torch, source, inputs)
    with torch.inference_mode():
        run = torch.compile(module, mode="reduce-overhead")
        return _times(1e3 * timed(device, lambda: run(given), runs), ms)


def decoding(device: Device, target: str, runs: int) -> Rows:
    """One token of a decoder in f16: the weights and the cache that it reads, beside a copy."""
    for batch in (1, 8):
        yield f"decode batch {batch}", partial(_decode, device, batch, target, runs)


def _decode(device: Device, batch: int, target: str, runs: int) -> Row:
    source = _source("llama_decode", "float16", batch=batch, **DECODER)
    with compiled(source, target=target) as net:
        inputs = random_inputs(net, 0, {})
        seconds = on_device(device, net, inputs, runs)
        table = 2 * DECODER["vocabulary"] * DECODER["hidden"]  # of embeddings: a row of it is read
        read = net.signature["weights"]["bytes"] - table + sum(each.nbytes for each in inputs.values())
    rate = copy_rate(device)
    return {"case": f"llama_decode float16 batch {batch}", "ms": round(1e3 * seconds, 4), "MB read": round(read / 1e6),
            "GB/s": round(1e-9 * read / seconds, 1), "of the copy's": round(read / seconds / rate, 3)}  # fmt: skip


def training(target: str) -> Rows:
    """Milliseconds of a whole training step with Adam, by the clock, batches from the host's memory."""
    for name in STEPS:
        yield f"training {name}", partial(_training, name, target)


def _training(name: str, target: str) -> Row:
    network = NETWORKS[name](np.random.default_rng(7))
    start = time.perf_counter()
    step = ours(network, 0, target)
    loss, first = step(), time.perf_counter() - start
    row = {"network": name, "first step s": round(first, 1), "loss": loss, "ms": _ms(step)}
    return row | beside(lambda: _beside_torch(network, loss, row["ms"]))


def _beside_torch(network: Network, loss: float, ms: float) -> Row:
    """The same step by torch, eager and compiled; nothing where torch has no GPU."""
    row: Row = {}
    for kind, how in {"torch": False, "torch.compile": True}.items() if torch_on_gpu() else ():
        step = torchs(network, how, "cuda")
        difference = abs(step() - loss) / max(abs(loss), 1e-30)
        theirs = _ms(step)
        row |= {f"{kind} ms": theirs, f"speed of {kind}": round(theirs / ms, 3), "difference": difference,
                "right": difference < 1e-3}  # fmt: skip
    return row


def _ms(step: Callable[[], float]) -> float:
    """Milliseconds of a step: the median of five samples, after three steps."""
    for _ in range(3):
        step()
    start = time.perf_counter()
    step()
    count = max(int(SAMPLES / 5 / max(time.perf_counter() - start, 1e-6)), 1)

    def sample() -> float:
        start = time.perf_counter()
        for _ in range(count):
            step()
        return 1e3 * (time.perf_counter() - start) / count

    return round(statistics.median(sample() for _ in range(5)), 4)
