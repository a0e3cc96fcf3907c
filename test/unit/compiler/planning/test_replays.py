"""The cost model against what papers measured: ZeRO's memory, and Megatron's throughput up to 3,072 GPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import P
from mlc.comm.link import Link
from mlc.planning import Auto, Cluster, Level, one_forward_one_backward
from mlc.planning.collectives import seconds
from mlc.runtime import TensorSpec

LAYERS, RANKS = 24, 64
WIDTH = 64 * 276  # 24 square weights of this width are 7.49 billion parameters
V100 = Cluster((Level(16, Link(5e-6, 1 / 150e9)), Level(0, Link(1e-5, 1 / 10e9))), 125e12, 9e11)


def zero_step(p: Any, master: Any, mean: Any, square: Any, x: Any, gradients: P) -> Any:
    """Adam on weights of 16 bits, with master weights: 12 bytes of optimizer a parameter (ZeRO: K = 12)."""

    def loss(p: Any) -> Any:
        h = x
        for w in p:
            h = mnp.tanh(h @ w)
        return mnp.mean(mnp.astype(h, "float32"))

    made = [mlc.shard(g, gradients) for g in mlc.grad(loss)(p)]
    wide = [mnp.astype(g, "float32") for g in made]
    mean = [0.9 * m + 0.1 * g for m, g in zip(mean, wide, strict=True)]
    square = [0.99 * v + 0.01 * g * g for v, g in zip(square, wide, strict=True)]
    master = [w - 1e-3 * m / (mnp.sqrt(v) + 1e-8) for w, m, v in zip(master, mean, square, strict=True)]
    return [mnp.astype(w, "float16") for w in master], master, mean, square


@pytest.mark.parametrize("stage, gigabytes", [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_the_memory_of_zero(stage: int, gigabytes: float) -> None:
    """Figure 1 of Rajbhandari et al. 2020: model states of 7.5 billion parameters on 64 ranks."""
    half = [TensorSpec(np.dtype("float16"), (WIDTH, WIDTH))] * LAYERS
    full = [TensorSpec(np.dtype("float32"), (WIDTH, WIDTH))] * LAYERS
    parts = P("data")
    fixed = {"p": parts if stage == 3 else P(), "x": parts}
    fixed |= dict.fromkeys(("master", "mean", "square"), parts if stage else P())
    gradients = parts if stage >= 2 else P()
    step = mlc.jit(lambda p, master, mean, square, x: zero_step(p, master, mean, square, x, gradients),
                   mesh=mlc.Mesh(data=RANKS), shardings=Auto(cluster=V100, fixed=fixed), results="auto")  # fmt: skip
    x = TensorSpec(np.dtype("float16"), (RANKS, WIDTH))
    found = step.search(p=half, master=full, mean=full, square=full, x=x)
    ops = found.building.graph.ops
    last = max(n for n, op in enumerate(ops) if op.name == "graph.contract")
    assert found.usage.held[last + 2] / 1e9 == pytest.approx(gigabytes, rel=0.02)  # all gradients are there


# parameters in billions, heads, hidden, layers, tensor ranks, pipeline ranks, GPUs, batch, teraFLOP/s a GPU
MEGATRON = [
    (1.7, 24, 2304, 24, 1, 1, 32, 512, 137), (3.6, 32, 3072, 30, 2, 1, 64, 512, 138),
    (7.5, 32, 4096, 36, 4, 1, 128, 512, 142), (18.4, 48, 6144, 40, 8, 1, 256, 1024, 135),
    (39.1, 64, 8192, 48, 8, 2, 512, 1536, 138), (76.1, 80, 10240, 60, 8, 4, 1024, 1792, 140),
    (145.6, 96, 12288, 80, 8, 8, 1536, 2304, 148), (310.1, 128, 16384, 96, 8, 16, 1920, 2160, 155),
    (529.6, 128, 20480, 105, 8, 35, 2520, 2520, 163), (1008.0, 160, 25600, 128, 8, 64, 3072, 3072, 163),
]  # fmt: skip
SELENE = Cluster((Level(8, Link(5e-6, 1 / 235e9)), Level(0, Link(1e-5, 1 / 20e9))), 312e12, 1.5e12)
"""A100s with NVLink of 300 GB/s and one HCA of 200 Gbit/s each, less what protocols take."""
TOKENS, WORDS = 2048, 51200


def throughput(row: tuple[float, ...], efficiency: float) -> float:
    """The teraFLOP/s of a GPU: products at a share of the peak, all-reduces of tensor ranks, 1F1B, gradients."""
    _, _, hidden, layers, tensor, pipeline, gpus, batch, _ = row
    data = gpus / tensor / pipeline
    micro = int(batch / data)
    flops = 96 * batch * TOKENS * layers * hidden**2 * (1 + TOKENS / (6 * hidden) + WORDS / (16 * layers * hidden))
    work = flops / gpus / micro / (efficiency * SELENE.flops)
    links = SELENE.links(int(tensor), 1)
    reduced = layers / pipeline * seconds("all_reduce", 2 * TOKENS * hidden, links) if links else 0.0
    forward, backward = work / 4 + 2 * reduced, 3 * work / 4 + 4 * reduced  # backward computes forward once more
    send = SELENE.levels[-1].link.seconds(1, int(2 * TOKENS * hidden / tensor))
    count = int(pipeline)
    step = one_forward_one_backward([forward] * count, [backward] * count, micro, [send] * count)
    gradients = 4 * row[0] * 1e9 / tensor / pipeline
    step += seconds("all_reduce", gradients, SELENE.links(int(data), int(tensor)))
    return flops / gpus / step / 1e12


def test_the_throughput_of_megatron() -> None:
    """Table 1 of Narayanan et al. 2021, with one efficiency of products that fits best."""
    wanted = np.array([row[-1] for row in MEGATRON])
    errors = {}
    for percent in range(40, 70):
        found = np.array([throughput(row, percent / 100) for row in MEGATRON])
        errors[percent] = float(np.abs(found / wanted - 1).max())
    assert min(errors.values()) < 0.2, errors
