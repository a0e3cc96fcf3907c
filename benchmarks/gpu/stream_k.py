"""``python -m benchmarks.gpu.stream_k``: what stream-K gains, by the time of blocks, on products of halves.

Blocks take equal shares of the steps of the last whole wave of tiles and those after it (Osama et al., 2023, the
hybrid), by the best tile and number of shares; beside it the best of data-parallel tiles and sums in parts (split-K).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from mlc.passes.cost.block_time import BlockTime, SplitSum
from mlc.passes.schedule.split_reductions import sum_of
from mlc.target import GpuTarget
from mlc.tools.tables import console, table

MODELS = ("resnet50", "vgg16", "bert", "vit", "gpt2")


@dataclass(frozen=True)
class Estimate:
    """Cycles of one product: as the compiler chooses, with the best of all tiles and parts, and by stream-K."""

    name: str
    chosen: float
    best: float
    shared: float
    waves: float  # of the best tile of whole sums
    launches: int = 1

    @property
    def speed(self) -> float:
        """How many times as fast as the best without stream-K it is; 1 where it is not faster."""
        return max(self.best / self.shared, 1.0)


def estimate(name: str, found: SplitSum, launches: int = 1) -> Estimate:
    gpu, numbers = found.target, found.ranked() or [1]
    whole = [each for each in found.tiles if not each.shares]
    tile = min(whole, key=lambda each: each.cycles(found.terms, gpu))
    shared = min(stream_k(each, found) for each in whole)
    plain = replace(found, tiles=whole)
    best, waves = min(plain.cycles(n) for n in numbers), tile.blocks / gpu.multiprocessors
    return Estimate(name, found.cycles(found.parts()), best, shared, waves, launches)


def stream_k(tile: BlockTime, found: SplitSum) -> float:
    """Cycles of one tile, with the best number of shares."""
    return min(tile.shared_cycles(found.terms, found.target, n) for n in tile.counts(found.target))


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
        f"100 products of halves, {target}", "kind", ">products", ">stream-K", ">faster", ">chosen"
    )
    for kind, group in found.items():
        speed = geometric_mean([each.speed for each in group])
        faster, chosen = (sum(each) for each in ([e.speed > 1 for e in group], [e.chosen < e.best for e in group]))
        rows.add_row(kind, str(len(group)), f"{speed:.3f}", str(faster), str(chosen))
    console().print(rows)
    title = f"Products of models whose sums can have parts, {numerics} numerics"
    rows = table(title, "model", ">ms", ">stream-K")
    for name, group in of_models(models.split(), gpu, numerics):
        best = sum(e.launches * e.best for e in group)
        shared = sum(e.launches * e.best / e.speed for e in group)
        rows.add_row(name, f"{1e3 * best / gpu.clock:.3f}", f"{best / shared:.3f}" if best else "")
    console().print(rows)


if __name__ == "__main__":
    typer.run(main)
