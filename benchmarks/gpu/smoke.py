"""The smoke rows of ``python -m benchmarks.gpu --smoke``: each feature of the kernels alone, whole outputs compared.

A feature comes after those that it is made of, so that the first row that is wrong names the one to look at. Nothing is
timed. Products have 430 x 440 results and 200 terms: the last tiles and the last step are partial.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from ml_dtypes import float8_e4m3fn

from benchmarks.gpu import bulk_stores, float8
from benchmarks.gpu.advance import compiled, compiled_by
from benchmarks.gpu.comparison import ERROR, Row, compared
from benchmarks.gpu.measurements import KERNEL, product_model
from benchmarks.gpu.smoke_models import MODELS
from mlc.tools.cuda_device import Device

Array = np.ndarray[Any, Any]
Size = tuple[int, int, int]
SIZE: Size = (430, 440, 200)
FEW = ":multiprocessors=6"  # so that a persistent block has several tiles
TILE = "m/128p n/128vp | k/64 | warps="
PRODUCTS = {
    "cp.async": ("", TILE + "8x1 copy=async"),
    "TMA": ("", TILE + "8x1 copy=tma store=threads"),
    "bulk stores of f16": ("", TILE + "8x1 copy=tma"),
    "persistent": (FEW, TILE + "8x1 copy=tma persist"),
    "raster": (FEW, TILE + "8x1 copy=tma raster=2 persist"),
    "clusters 2x1": (FEW, TILE + "8x1 copy=tma cluster=2x1 raster=8 persist"),
    "clusters 1x2": (FEW, TILE + "8x1 copy=tma cluster=1x2 raster=8 persist"),
    "clusters 2x2": (FEW, TILE + "8x1 copy=tma cluster=2x2 raster=8 persist"),
    "ping-pong": (FEW, TILE + "4x1 copy=tma raster=8 persist pingpong"),
    "mma.sync": ("", "m/64p n/64vp | k/32 | warps=2x2 mma=m16n8k16"),
    "stream-K": ("", "m/64p n/64vp | k/32 | warps=2x2 mma=m16n8k16 streamk=40"),
}
"""The facts of the target beside the device's own, and the schedule of the product."""
HOPPER = re.compile("copy=tma|warps=[48]x1")  # what other GPUs than those of sm_90a lack


def measured(device: Device, target: str) -> Iterator[tuple[str, Callable[[], Row]]]:
    """The rows, in the order of what depends on what; those of products by TMA on GPUs that have it."""
    hopper = target == "cuda:sm_90"
    for name, (facts, line) in PRODUCTS.items():
        if hopper or not HOPPER.search(line):
            yield name, partial(product, device, name, target, facts, line)
    if hopper:
        yield "bulk stores of f32", partial(stores, device, target)
    for numerics in float8.ERROR:
        yield f"fp8 {numerics}", partial(eights, device, target, numerics)
    for name, row in MODELS.items():
        yield name, partial(row, device, target)


def product(device: Device, name: str, target: str, facts: str, line: str, size: Size = SIZE) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    schedule = {name: f"{KERNEL}: contraction: S0 S1 | {line}\n"}
    with compiled_by(product_model("float16", size, b), schedule, target + facts) as nets:
        return compared(device, nets[name], {"a": a}, {"y": a.astype(np.float64) @ b.astype(np.float64)})


def stores(device: Device, target: str, size: Size = SIZE) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    source = bulk_stores.model(size, "float32")
    lines = {"boxes": bulk_stores.schedules(source, target)["boxes"]}
    wanted = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)  # what the cast to f32 has
    with compiled_by(source, lines, target) as nets:
        error = ERROR["float16"]  # sums before the rounding differ by theirs
        return compared(device, nets["boxes"], {"a": a, "b": b}, {"y": wanted.astype(np.float64)}, error=error)


def eights(device: Device, target: str, numerics: Any, size: Size = (430, 432, 208)) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(float8_e4m3fn) for shape in ((m, k), (n, k)))
    wanted = float8.SCALES[0] * float8.SCALES[1] * (a.astype(np.float64) @ b.astype(np.float64).T)
    with compiled(float8.product_model(size, b), target=target, numerics=numerics) as net:
        return compared(device, net, {"a": a}, {"y": wanted}, error=1e-2 if numerics == "relaxed" else None)
