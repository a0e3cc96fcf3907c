"""Bulk stores on a GPU: products of halves whose results of 16 or 32 bits go to memory as boxes of a tensor (TMA), and
by threads. Sums are short, so that a large part of the time is that of the results."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnx.parser

from benchmarks.gpu.advance import compiled_by
from benchmarks.gpu.measurements import ELEMENTS, Row, measured_product
from mlc.api import make_options
from mlc.driver.sources import source_of
from mlc.tools.cuda_device import Device
from mlc.tuning.variants import Variants

Size = tuple[int, int, int]
SIZES = [(4096, 4096, 512), (8192, 8192, 128), (4096, 1024, 256)]
SMALL = [(200, 152, 136)]
RESULTS = ("float16", "float32")
BLOCK = "m/128p n/128vp | k/64 | warps=8x1 copy=tma raster=8 persist"
STORES = {"boxes": "", "threads": " store=threads"}
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
product (float16[{m},{k}] a, float16[{k},{n}] b) => ({result}[{m},{n}] y) {{
    c = MatMul (a, b)
    y = Cast <to = {number}> (c)
}}"""


def measured(device: Device, target: str, runs: int, sizes: list[Size]) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row for each product and type of results, on GPUs that have TMA."""
    for size in sizes if target == "cuda:sm_90" else []:
        for result in RESULTS:
            yield f"stores of {result} {size}", partial(_row, device, size, result, target, runs)


def _row(device: Device, size: Size, result: str, target: str, runs: int) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    a, b = ((random.normal(size=shape) / k**0.25).astype(np.float16) for shape in ((m, k), (k, n)))
    source = model(size, result)
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    with compiled_by(source, schedules(source, target), target) as nets:
        found = {name: measured_product(device, net, {"a": a, "b": b}, wanted, runs) for name, net in nets.items()}
    boxes, threads = (seconds for seconds, _ in found.values())
    return {
        "product": f"{m}x{n}x{k}",
        "results": result,
        **{f"{name} µs": round(1e6 * seconds, 2) for name, (seconds, _) in found.items()},
        "speed of threads": round(threads / boxes, 3),
        "GB/s of results": round(1e-9 * wanted.size * np.dtype(result).itemsize / boxes, 1),
        "error": max(judgement["error"] for _, judgement in found.values()),
        "right": all(judgement["right"] for _, judgement in found.values()),
    }


def model(size: Size, result: str) -> onnx.ModelProto:
    m, n, k = size
    text = TEXT.format(m=m, n=n, k=k, result={"float32": "float"}.get(result, result), number=ELEMENTS[result])
    return onnx.parser.parse_model(text)


def schedules(source: object, target: str) -> dict[str, str]:
    """The same tiles with both kinds of stores."""
    with tempfile.TemporaryDirectory() as folder:
        variants = Variants(source_of(source), make_options(target), Path(folder))
        (name,) = variants.kernels
        statements = variants.chosen(name).partition(" |")[0]
    return {kind: f"{name}: {statements} | {BLOCK}{item}\n" for kind, item in STORES.items()}
