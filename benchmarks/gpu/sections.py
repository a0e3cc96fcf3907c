"""What ``python -m benchmarks.gpu`` measures: the sections in order, each a table of rows."""

from __future__ import annotations

from benchmarks.gpu import (
    attention,
    bulk_stores,
    calibration,
    checks,
    convolutions,
    float8,
    gradients,
    measurements,
    models,
    parts,
    rows,
    shared_tiles,
    smoke,
    thread_blocks,
)
from benchmarks.gpu.report import Section
from benchmarks.gpu.shapes import SHAPES
from mlc.tools.gpu_peak import copy_rate

LARGE = [(n, n, n) for n in (8192, 4096, 2048, 1024, 512)]
OTHER = [(1, 4096, 4096), (16, 4096, 4096), (128, 3072, 768), (512, 768, 3072), (1000, 1000, 1000)]
SMALL = [(33, 65, 40)]
SMALL8 = [(48, 80, 64)]  # of floats of 8 bits, as torch takes multiples of 16


def smoking(target: str) -> dict[str, Section]:
    """Each feature alone, of whole outputs; nothing is timed."""
    return {
        "First kernel": lambda device: checks.first_kernel(device, target),
        "Smoke": lambda device: smoke.measured(device, target),
    }


def small(target: str, runs: int) -> dict[str, Section]:
    """Small models and products."""
    return smoking(target) | {
        "Models": lambda device: measurements.correctness(device, target, runs),
        "Products": lambda device: measurements.products(device, target, runs, SMALL, measurements.ELEMENTS),
        "Floats of 8 bits": lambda device: float8.measured(device, target, runs, SMALL8),
        "Attention": lambda device: attention.measured(device, target, runs, ["float16"]),
        "Gradients of attention": lambda device: gradients.measured(device, target, runs, 1),
        "Convolutions": lambda device: convolutions.measured(device, target, runs, 2),
        "Rows": lambda device: rows.measured(device, target, runs, ((64, 1000),)),
        "Parts of sums": lambda device: parts.measured(device, target, runs, parts.SIZES[:1]),
        "Stream-K": lambda device: shared_tiles.measured(device, target, runs, shared_tiles.SMALL),
        "Bulk stores": lambda device: bulk_stores.measured(device, target, runs, bulk_stores.SMALL),
    }


def calibrating(target: str) -> dict[str, Section]:
    """Products by many schedules, to which the rates of the time of blocks are fitted."""
    return {"Calibration": lambda device: calibration.measured(device, target, "float16")}


def whole(target: str, runs: int) -> dict[str, Section]:
    """Everything: what is least proven, and what says most, before many rows of one kind."""
    shapes = [size for sizes in SHAPES.values() for size in sizes]
    return {
        **smoking(target),
        "Copy": lambda device: iter([("copy", lambda: {"GB/s": round(1e-9 * copy_rate(device), 1)})]),
        "Launches": lambda device: iter([("chain", lambda: measurements.launch_cost(device, target, runs))]),
        **calibrating(target),
        "Parts of sums": lambda device: parts.measured(device, target, runs, parts.SIZES),
        "Large products": lambda device: measurements.products(device, target, runs, LARGE[:2], ["bfloat16"]),
        "Thread blocks": lambda device: thread_blocks.measured(device, target, runs, LARGE[:2]),
        "Model speed": lambda device: models.models(device, target, runs, models.FIRST),
        "Attention": lambda device: attention.measured(device, target, runs, ["bfloat16"]),
        "Floats of 8 bits": lambda device: float8.measured(device, target, runs, float8.SIZES),
        "Stream-K": lambda device: shared_tiles.measured(device, target, runs, shared_tiles.SIZES),
        "Bulk stores": lambda device: bulk_stores.measured(device, target, runs, bulk_stores.SIZES),
        "Models": lambda device: measurements.correctness(device, target, runs),
        "Decoding": lambda device: models.decoding(device, target, runs),
        "Training": lambda _: models.training(target),
        "Convolutions": lambda device: convolutions.measured(device, target, runs, None),
        "Gradients of attention": lambda device: gradients.measured(device, target, runs, None),
        "Rows": lambda device: rows.measured(device, target, runs, rows.SIZES),
        "100 products": lambda device: measurements.products(device, target, runs, shapes, ["bfloat16"]),
        "More products": lambda device: measurements.products(
            device, target, runs, [*LARGE, *OTHER], ["float16", "float32"]
        ),
        "More models": lambda device: models.models(device, target, runs, models.REST),
        "Attention of halves": lambda device: attention.measured(device, target, runs, ["float16"]),
        "Beside torch.compile": lambda device: models.beside_compiled(device, target, runs, models.FIRST),
    }
