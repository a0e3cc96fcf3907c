"""Products of few tiles and long sums by the number of parts that different blocks compute (split-K): ms of each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.gpu.advance import compiled_by
from benchmarks.gpu.measurements import KERNEL, Row, measured_product, product_model
from mlc.api import make_options
from mlc.driver.sources import source_of
from mlc.tools.cuda_device import Device
from mlc.tuning.variants import Variants

SIZES = [
    (128, 768, 768), (128, 3072, 768), (128, 768, 3072), (32, 32, 4096), (64, 4096, 4096), (512, 768, 4096),
]  # fmt: skip
"""The first three are BERT's."""
NUMBERS = 6  # of one product


def measured(device: Device, target: str, runs: int, sizes: list[tuple[int, int, int]]) -> Iterator[
    tuple[str, Callable[[], Row]]
]:  # fmt: skip
    """A row for each product of halves, with the numbers of parts in the order of the estimate."""
    for size in sizes:
        yield f"{size}", lambda size=size: _row(device, size, target, runs)  # type: ignore[misc]


def _row(device: Device, size: tuple[int, int, int], target: str, runs: int) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    a, b = ((random.normal(size=shape) / k**0.25).astype(np.float16) for shape in ((m, k), (k, n)))
    model = product_model("float16", size, b)
    with compiled_by(model, {str(number): text for number, text in schedules(model, target)}, target) as nets:
        found = {n: measured_product(device, net, {"a": a}, a.astype(float) @ b, runs) for n, net in nets.items()}
    times = {number: 1e3 * seconds for number, (seconds, _) in found.items()}
    judgements = [judgement for _, judgement in found.values()]
    first, best = next(iter(times)), min(times, key=times.__getitem__)
    return {"product": f"{m}x{n}x{k}", "parts: ms": ", ".join(f"{p}: {ms:.4f}" for p, ms in times.items()),
            "estimated": int(first), "fastest": int(best),
            "time of fastest": round(times[best] / times[first], 3),
            "error": max(each["error"] for each in judgements),
            "right": all(each["right"] for each in judgements)}  # fmt: skip


def schedules(model: object, target: str) -> Iterator[tuple[int, str]]:
    """Numbers of parts of a product's sum, the best by the estimate first, with the schedules of their kernels."""
    with tempfile.TemporaryDirectory() as folder:
        variants = Variants(source_of(model), make_options(target), Path(folder))
        for number in variants.numbers(KERNEL)[:NUMBERS] or [1]:
            variants.divide({KERNEL: number})
            yield number, "".join(f"{name}: {variants.chosen(name)}\n" for name in variants.kernels)
