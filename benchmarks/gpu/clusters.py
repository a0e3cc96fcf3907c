"""``python -m benchmarks.gpu.clusters``: what clusters gain, by the time of blocks, on 100 products of halves.

The tile that the rules choose for each, and the best of those without clusters: estimated time, and the bytes that all
blocks read from L2, where a block of a cluster reads its part of what they share. Sums are whole, not in parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Annotated

import onnx.parser
import typer

from benchmarks.gpu.shapes import SHAPES
from mlc import target as targets
from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import LoopNest
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.passes.cost.nest_time import block_time
from mlc.passes.schedule.gpu.tensor_cores import tensor_cores
from mlc.passes.schedule.polyhedral.statement_view import StatementView, statements_of
from mlc.target import GpuTarget
from mlc.tools.tables import console, table


@dataclass(frozen=True)
class Choice:
    """Estimated cycles and bytes from L2 of a product: as chosen, and by the best tile without clusters."""

    nest: LoopNest
    cycles: float
    read: float
    plain_cycles: float
    plain_read: float

    @property
    def clustered(self) -> bool:
        return self.nest.block is not None and self.nest.block.cluster is not None


def choice(m: int, n: int, k: int, gpu: GpuTarget) -> Choice:
    text = f"product (float16[{m},{k}] a, float16[{k},{n}] b) => (float16[{m},{n}] y) {{ y = MatMul (a, b) }}"
    imported = OnnxSource.of(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')).imported({})
    run(imported.module, imported.weights, Options(target=gpu), ("graph", "layout", "fuse", "kernel"))
    (fn,) = [o for o in imported.module.ops if isinstance(o, FuncOp)]
    statements = statements_of(fn)
    first, *others = tensor_cores(statements, gpu)
    plain = [nest for nest in (first, *others) if nest.block is None or nest.block.cluster is None]
    own, best = _facts(first, statements[0], gpu), min(_facts(nest, statements[0], gpu) for nest in plain)
    return Choice(first, *own, *best)


def _facts(nest: LoopNest, s: StatementView, gpu: GpuTarget) -> tuple[float, float]:
    block, terms = block_time(nest, s, gpu), math.prod(s.bounds[i] for i in s.reduced)  # type: ignore[misc]
    return block.cycles(terms, gpu), block.blocks * terms * block.read


def choices(gpu: GpuTarget) -> Iterator[tuple[str, Choice]]:
    for kind, sizes in SHAPES.items():
        for size in sizes:
            yield kind, choice(*size, gpu)


def main(target: Annotated[str, typer.Option(help="What to compile for.")] = "cuda:sm_90") -> None:
    """Print the estimated speed of the chosen tiles over the best without clusters, and what both read from L2."""
    gpu = targets.get(target)
    assert isinstance(gpu, GpuTarget)
    found: dict[str, list[Choice]] = {}
    for kind, each in choices(gpu):
        found.setdefault(kind, []).append(each)
    found["all"] = [each for group in list(found.values()) for each in group]
    title = f"100 products of halves, {target}"
    rows = table(title, "kind", ">products", ">with clusters", ">speed", ">GB from L2", ">without clusters")
    for kind, group in found.items():
        speed = geometric_mean([each.plain_cycles / each.cycles for each in group])
        read, plain = (1e-9 * sum(each) for each in ([c.read for c in group], [c.plain_read for c in group]))
        count = sum(each.clustered for each in group)
        rows.add_row(kind, str(len(group)), str(count), f"{speed:.3f}", f"{read:.2f}", f"{plain:.2f}")
    console().print(rows)


if __name__ == "__main__":
    typer.run(main)
