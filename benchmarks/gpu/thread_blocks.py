"""Thread blocks of sm_90a: one product of halves by each kind, TFLOP/s in turn with a GPU, and what is known without.

``python -m benchmarks.gpu.thread_blocks`` prints, for each tile and kind, the estimated time (``block_time``), the
bytes that all blocks read from L2, and registers, stack and shared memory of the compiled kernel.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.gpu.advance import compiled
from benchmarks.gpu.kernels import compiled_resources
from benchmarks.gpu.measurements import KERNEL, Row, judged, product_model, results_on, sampled
from mlc import target as targets
from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import schedule_of
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.passes.codegen.cuda.launch_geometry import geometry_of
from mlc.passes.cost.nest_time import block_time
from mlc.passes.schedule.polyhedral.statement_view import statements_of
from mlc.pipelines.backends import backend_of
from mlc.target import GpuTarget
from mlc.tools.cuda_device import Device
from mlc.tools.tables import show_rows

BLOCKS = {  # of warpgroups: how operands come to shared memory, and which tiles a block takes
    "all threads copy": "{tile} | warps=8x1 copy=async",
    "TMA": "{tile} | warps=8x1 copy=tma",
    "TMA, persistent": "{tile} | warps=8x1 copy=tma raster=8 persist",
    "clusters 2x1": "{tile} | warps=8x1 copy=tma cluster=2x1 raster=8 persist",
    "clusters 1x2": "{tile} | warps=8x1 copy=tma cluster=1x2 raster=8 persist",
    "clusters 2x2": "{tile} | warps=8x1 copy=tma cluster=2x2 raster=8 persist",
}
TILES = ("m/128p n/128vp | k/64", "m/256p n/128vp | k/64")
ALTERNATING = ("m/128p n/128vp | k/64", "m/64p n/256vp | k/64")
"""Tiles of one warpgroup, of which two alternate."""
STAGES = ("graph", "layout", "fuse", "kernel", "schedule")
Size = tuple[int, int, int]


def measured(device: Device, target: str, runs: int, sizes: list[Size]) -> Iterator[tuple[str, Callable[[], Row]]]:
    """One product of halves by the thread blocks of sm_90a: TFLOP/s of each, in turn."""
    for size in sizes if target == "cuda:sm_90" else []:
        for name, tile, line in lines():
            what = f"{size[0]}: {name} {tile}"
            yield what, lambda s=size, n=name, x=line: _by_schedule(device, s, n, x, target, runs)  # type: ignore[misc]


def lines() -> Iterator[tuple[str, str, str]]:
    """The kinds, their tiles, and both as the sections of a schedule."""
    for tile in TILES:
        for name, block in BLOCKS.items():
            yield name, tile, block.format(tile=tile)
    for tile in ALTERNATING:
        yield "ping-pong", tile, f"{tile} | warps=4x1 copy=tma raster=8 persist pingpong"


def _by_schedule(device: Device, size: Size, name: str, tiles: str, target: str, runs: int) -> Row:
    (m, n, k), random = size, np.random.default_rng(0)
    a, b = ((random.normal(size=shape) / k**0.25).astype(np.float16) for shape in ((m, k), (k, n)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "schedule"
        file.write_text(_schedule(tiles))
        with compiled(product_model("float16", size, b), target=target, schedule=str(file)) as net:
            seconds, out = results_on(device, net, {"a": a}, runs)
    rows = sampled(m)
    judgement = judged(out["y"][rows].astype(np.float64), a[rows].astype(np.float64) @ b.astype(np.float64), "float16")
    return {"product": f"{m}x{n}x{k}", "tile": tiles.partition(" |")[0], "copies": name,
            "ms": round(1e3 * seconds, 4), "TFLOP/s": round(2e-12 * m * n * k / seconds, 2), **judgement}  # fmt: skip


def _schedule(tiles: str) -> str:
    return f"{KERNEL}: contraction: S0 S1 | {tiles}\n"


def known(size: Size, name: str, tiles: str, target: GpuTarget) -> Row:
    """What is known of a product without a GPU."""
    m, n, k = size
    source = OnnxSource.of(product_model("float16", size, np.ones((k, n), np.float16)))
    imported, options = source.imported({}), Options(target=target, schedule=_schedule(tiles))
    run(imported.module, imported.weights, options, STAGES)
    (fn,) = [o for o in imported.module.ops if isinstance(o, FuncOp)]
    block = block_time(schedule_of(fn)[0], statements_of(fn)[0], target)
    run(imported.module, imported.weights, options, ("tile", "loops", "plan"))
    (fn,) = [o for o in imported.module.ops if isinstance(o, FuncOp)]
    (used,) = compiled_resources(backend_of(target).print_kernels(imported.module).strings, target).values()
    return {"tile": tiles.partition(" |")[0], "copies": name, "blocks": geometry_of(fn).grid,
            "threads": geometry_of(fn).threads, "shared": geometry_of(fn).shared, "registers": used.registers,
            "stack": used.stack, "GB from L2": round(1e-9 * block.blocks * k * block.read, 2),
            "estimated ms": round(1e3 * block.cycles(k, target) / target.clock, 3)}  # fmt: skip


def main(
    size: Annotated[str, typer.Option(help="Rows, columns and terms of the product.")] = "8192x8192x8192",
    target: Annotated[str, typer.Option(help="What to compile for.")] = "cuda:sm_90",
) -> None:
    """Print what is known of a product by each thread block without a GPU."""
    m, n, k = map(int, size.split("x"))
    gpu = targets.get(target)
    assert isinstance(gpu, GpuTarget)
    rows: list[dict[str, Any]] = [known((m, n, k), name, line, gpu) for name, _, line in lines()]
    show_rows(f"{size} of halves, {target}", rows)


if __name__ == "__main__":
    typer.run(main)
