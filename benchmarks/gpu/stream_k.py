"""``python -m benchmarks.gpu.stream_k``: what stream-K could gain, by the time of blocks, on products of halves.

Persistent blocks take equal shares of all (tile, step of the sum) iterations (Osama et al., 2023); in the hybrid of
CUTLASS only the last whole wave and the rest of tiles are shared so. A tile that is shared has partial sums, which are
written and read once, and one more kernel adds them. Beside it: data-parallel tiles, and sums in parts (split-K).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Annotated

import onnx
import onnx.parser
import typer

from benchmarks.gpu.shapes import SHAPES
from benchmarks.models import build
from mlc import target as targets
from mlc.dialects.kernel import CallOp, FuncOp
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.passes.schedule.split_reductions import sum_of
from mlc.target import GpuTarget
from mlc.target.block_time import FLOAT, BlockTime, SplitSum
from mlc.tools.tables import console, table

MODELS = ("resnet50", "vgg16", "bert", "vit", "gpt2")
WAIT = 1000  # cycles in which a block learns by a flag in memory that another one has written
CHUNK = 64  # terms of an iteration: what is staged together


@dataclass(frozen=True)
class Estimate:
    """Cycles of one product: as the compiler chooses (whole sums or parts), with the best of all tiles and parts, and
    by stream-K whose parts a second kernel adds, or the same kernel (waiting for flags in memory)."""

    name: str
    chosen: float
    best: float
    second: float
    flags: float
    waves: float  # of the best tile of whole sums
    launches: int = 1

    def speed(self, stream: float) -> float:
        """How many times as fast as the best without stream-K it is; 1 where it is not faster."""
        return max(self.best / stream, 1.0)


def estimate(name: str, found: SplitSum, launches: int = 1) -> Estimate:
    gpu, numbers = found.target, found.ranked() or [1]
    tile = min(found.tiles, key=lambda each: each.cycles(found.terms, gpu))
    second, flags = (min(stream_k(each, found, fixed) for each in found.tiles) for fixed in (gpu.launch_cycles, WAIT))
    best, waves = found.cycles(numbers[0]), tile.blocks / gpu.multiprocessors
    return Estimate(name, found.cycles(found.parts()), best, second, flags, waves, launches)


def stream_k(tile: BlockTime, found: SplitSum, fixed: float) -> float:
    """Cycles of one tile: whole tiles in all waves but the last whole one, which is shared with the rest."""
    gpu, count = found.target, found.target.multiprocessors
    waves, rest = divmod(tile.blocks, count)
    if not rest:
        return tile.cycles(found.terms, gpu)
    whole, iterations = max(waves - 1, 0), math.ceil(found.terms / CHUNK)
    share = math.ceil((tile.blocks - whole * count) * iterations / count)
    tiles = whole + share / iterations  # of one multiprocessor
    waits = gpu.term_cycles * min(tiles, max(1.0, tiles / tile.together(gpu)))
    moved = 2 * FLOAT * min(count, tile.blocks * iterations) * tile.rows * tile.columns / found.rate
    return found.terms * max(tiles * tile.work(gpu), waits) + fixed + moved


def products(target: GpuTarget) -> Iterator[tuple[str, Estimate]]:
    """The 100 shapes, in halves, by their kind."""
    for kind, sizes in SHAPES.items():
        for m, n, k in sizes:
            text = f"product (float16[{m},{k}] a, float16[{k},{n}] b) => (float16[{m},{n}] y) {{ y = MatMul (a, b) }}"
            model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')
            for each in estimates(model, target, "default"):
                yield kind, each


def estimates(model: onnx.ModelProto, target: GpuTarget, numerics: str) -> Iterator[Estimate]:
    """The estimates of those kernels of a model whose sums can have parts."""
    imported = OnnxSource.of(model).imported({})
    run(
        imported.module,
        imported.weights,
        Options(target=target, numerics=numerics),
        ("graph", "layout", "fuse", "kernel"),
    )
    calls = [o.callee.root_reference.data for o in imported.module.walk() if isinstance(o, CallOp)]
    for fn in [o for o in imported.module.ops if isinstance(o, FuncOp)]:
        if found := sum_of(fn, target, numerics):
            yield estimate(fn.sym_name.data, found, calls.count(fn.sym_name.data))


def of_models(names: Sequence[str], target: GpuTarget, numerics: str) -> Iterator[tuple[str, list[Estimate]]]:
    for name in names:
        for batch in (1, 32):
            yield f"{name}, batch {batch}", list(estimates(build(name, batch=batch), target, numerics))


def main(
    target: Annotated[str, typer.Option(help="What to compile for.")] = "cuda:sm_80",
    models: Annotated[str, typer.Option(help="Families of benchmarks.models.")] = " ".join(MODELS),
    numerics: Annotated[str, typer.Option(help="Of the models: strict, default or relaxed.")] = "default",
) -> None:
    """Print the estimated speed of stream-K over the best of whole sums and equal parts."""
    gpu = targets.get(target)
    assert isinstance(gpu, GpuTarget)
    found: dict[str, list[Estimate]] = {}
    for kind, each in products(gpu):
        found.setdefault(kind, []).append(each)
    found["all"] = [each for group in list(found.values()) for each in group]
    rows = table(
        f"100 products of halves, {target}", "kind", ">products", ">second kernel", ">flags", ">faster with flags"
    )
    for kind, group in found.items():
        faster = sum(each.speed(each.flags) > 1 for each in group)
        speeds = (geometric_mean([each.speed(cycles) for each, cycles in zip(group, made, strict=True)])
                  for made in ([e.second for e in group], [e.flags for e in group]))  # fmt: skip
        rows.add_row(kind, str(len(group)), *(f"{speed:.3f}" for speed in speeds), str(faster))
    console().print(rows)
    title = f"Products of models whose sums can have parts, {numerics} numerics"
    rows = table(title, "model", ">ms", ">second kernel", ">flags")
    for name, group in of_models(models.split(), gpu, numerics):
        best, second, flags = (
            sum(e.launches * e.best / speed(e) for e in group)
            for speed in (lambda e: 1.0, lambda e: e.speed(e.second), lambda e: e.speed(e.flags))
        )
        speeds = (f"{best / each:.3f}" if best else "" for each in (second, flags))
        rows.add_row(name, f"{1e3 * best / gpu.clock:.3f}", *speeds)
    console().print(rows)


if __name__ == "__main__":
    typer.run(main)
