"""Stream-K on a GPU: products of halves by shares of tiles, by whole sums and by equal parts, each as the estimate has
it best, and by torch."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.gpu.advance import compiled_by
from benchmarks.gpu.measurements import KERNEL, Row, measured_product, product_model, torch_product
from mlc.api import make_options
from mlc.driver.sources import source_of
from mlc.tools.cuda_device import Device
from mlc.tuning.variants import Variants

Size = tuple[int, int, int]
SIZES = [(160, 1536, 4099), (64, 4096, 4099), (256, 2000, 1531), (896, 1280, 2053), (96, 1152, 4000)]
"""Rows, columns and terms: numbers of terms with few divisors, and one with many, of which there are equal parts."""
SMALL = [(64, 64, 2039)]
WHOLE, PARTS, SHARES = "whole sums", "equal parts", "stream-K"


def measured(device: Device, target: str, runs: int, sizes: list[Size]) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row for each product."""
    for size in sizes:
        yield f"{SHARES} {size}", partial(_row, device, size, target, runs)


def _row(device: Device, size: Size, target: str, runs: int) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    a, b = (random.standard_normal(shape, np.float32) / np.float32(k**0.25) for shape in ((m, k), (k, n)))
    feed, right = {"a": a.astype(np.float16)}, b.astype(np.float16)
    model = product_model("float16", size, right)
    wanted = feed["a"].astype(np.float32) @ right.astype(np.float32)
    with compiled_by(model, schedules(model, target), target) as nets:
        found = {name: measured_product(device, net, feed, wanted, runs) for name, net in nets.items()}
    theirs = torch_product(device, "float16", a, b, runs)
    return row(size, found) | {"torch µs": theirs and round(1e6 * theirs, 2),
                               "speed of torch": theirs and round(theirs / found[SHARES][0], 3)}  # fmt: skip


def row(size: Size, found: dict[str, tuple[float, Row]]) -> Row:
    """The microseconds of each kind, and the speed of stream-K as a multiple of the best of the others."""
    others = min(seconds for name, (seconds, _) in found.items() if name != SHARES)
    return {
        "product": "x".join(map(str, size)),
        **{f"{name} µs": round(1e6 * found[name][0], 2) for name in (WHOLE, PARTS, SHARES) if name in found},
        "speed of the best other": round(others / found[SHARES][0], 3),
        "error": max(judgement["error"] for _, judgement in found.values()),
        "right": all(judgement["right"] for _, judgement in found.values()),
    }


def schedules(model: object, target: str) -> dict[str, str]:
    """The first schedules of each kind by the estimate; equal parts where the number of terms has divisors for them."""
    with tempfile.TemporaryDirectory() as folder:
        variants = Variants(source_of(model), make_options(target), Path(folder))
        made = {}
        for number in [each for each in variants.numbers(KERNEL) if each > 1][:1]:
            variants.divide({KERNEL: number})
            made[PARTS] = "".join(f"{name}: {variants.chosen(name)}\n" for name in variants.kernels)
        variants.divide({KERNEL: 1})
        for text in variants.candidates(KERNEL):
            made.setdefault(SHARES if "streamk=" in text else WHOLE, f"{KERNEL}: {text}\n")
    return made
