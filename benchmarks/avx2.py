"""Products and layers of transformers in code for AVX2, beside torch kept to AVX2.

    python -m benchmarks.avx2 [NAME...] [--target znver3]

Any CPU with AVX2 runs it. One thread, CPU time, in turn, the lower quartile of many calls: on a busy virtual
machine a single call may be counted as less than it took. % is of the peak of AVX2's
multiply-adds, measured on this machine. A ratio over 1: mlc is faster. torch multiplies by MKL, and by oneDNN with
packed weights; the faster one counts. onnxruntime cannot be kept to AVX2, and is no peer here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import mlc
from benchmarks import limits
from benchmarks.gradient_networks import OURS

Array = np.ndarray[Any, Any]
Run = Callable[[], Any]

PRODUCTS = ("128x768x768", "128x768x3072", "128x3072x768", "1500x384x1536", "1500x1536x384", "1024x1024x1024")
GRADIENTS = ("768x512x768", "768x512x3072", "3072x512x768")  # of weights: rows and columns of weights, 512 tokens
LAYERS = {"bert": (128, 768, 12), "gpt2": (64, 768, 12), "whisper": (1500, 384, 6)}  # tokens, width, heads
WEIGHTS = {"q": (1, 1), "k": (1, 1), "v": (1, 1), "o": (1, 1), "up": (1, 4), "down": (4, 1)}  # terms, columns / width


def numbers(*shape: int, fan: int = 1) -> Array:
    return (np.random.default_rng(0).standard_normal(shape) / fan**0.5).astype(np.float32)


class Torch:
    """What a layer calls, by torch: products by oneDNN with packed weights, or by MKL."""

    def __init__(self, packed: bool) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, self.packed, self.weights = torch, packed, dict[int, Any]()
        functions = torch.nn.functional
        self.gelu, self.attention = functions.gelu, functions.scaled_dot_product_attention
        self.reshape, self.swap = torch.reshape, lambda x: x.permute(0, 2, 1, 3)

    def layer_norm(self, x: Any) -> Any:
        return self.torch.nn.functional.layer_norm(x, x.shape[-1:])

    def product(self, x: Any, w: Array) -> Any:
        rows = x.numel() // x.shape[-1]
        if id(w) not in self.weights:
            columns = self.torch.from_numpy(np.ascontiguousarray(w.T))
            pack = self.torch.ops.mkldnn._reorder_linear_weight
            self.weights[id(w)] = pack(columns, rows) if self.packed else columns
        if not self.packed:
            return self.torch.nn.functional.linear(x, self.weights[id(w)])
        return self.torch.ops.mkldnn._linear_pointwise(x, self.weights[id(w)], None, "none", [], "")

    def run(self, function: Callable[..., Any], *arrays: Array) -> Run:
        tensors = [self.torch.from_numpy(array) for array in arrays]

        def call() -> Any:
            with self.torch.inference_mode():
                return function(self, *tensors)

        return call


class Ours:
    """What a layer calls, by mlc."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.gelu, self.attention, self.reshape, self.swap = OURS.gelu, OURS.attention, OURS.reshape, OURS.swap

    def layer_norm(self, x: Any) -> Any:
        width = x.shape[-1]
        return OURS.layer_norm(x, np.ones(width, np.float32), np.zeros(width, np.float32))

    def product(self, x: Any, w: Array) -> Any:
        return x @ w

    def run(self, function: Callable[..., Any], *arrays: Array) -> Run:
        compiled = mlc.jit(lambda *xs: function(self, *xs), target=self.target, threads=1)
        return lambda: compiled(*arrays)


def layer(tokens: int, width: int, heads: int) -> Callable[[Any, Any], Any]:
    """A layer of a transformer on [1, tokens, width]: attention, then two products with a Gelu between."""
    w = {name: numbers(width * a, width * b, fan=width * a) for name, (a, b) in WEIGHTS.items()}

    def function(f: Any, x: Any) -> Any:
        parts = [f.swap(f.reshape(f.product(x, w[name]), (1, tokens, heads, width // heads))) for name in "qkv"]
        x = f.layer_norm(x + f.product(f.reshape(f.swap(f.attention(*parts)), (1, tokens, width)), w["o"]))
        return f.layer_norm(x + f.product(f.gelu(f.product(x, w["up"])), w["down"]))

    return function


def workload(name: str) -> tuple[float, Callable[..., Any], list[Array]]:
    """Floating-point operations of products, the function of a library's functions and arrays, and the arrays."""
    if name in LAYERS:
        tokens, width, heads = LAYERS[name]
        flops = 2.0 * tokens * width * (12 * width + 2 * tokens)
        return flops, layer(tokens, width, heads), [numbers(1, tokens, width)]
    if name.startswith("gradient_"):
        m, k, n = map(int, name.removeprefix("gradient_").split("x"))
        return 2.0 * m * k * n, lambda f, x, y: x.T @ y, [numbers(k, m), numbers(k, n)]
    m, k, n = map(int, name.split("x"))
    w = numbers(k, n, fan=k)
    return 2.0 * m * k * n, lambda f, x: f.product(x, w), [numbers(m, k)]


def quartiles(runs: Sequence[Run], rounds: int) -> list[float]:
    """The lower quartile of seconds of CPU time of each, in turn."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for n, run in enumerate(runs):
            run()  # after the others' use of caches
            start = time.thread_time()
            run()
            times[n].append(time.thread_time() - start)
    return [float(np.quantile(each, 0.25)) for each in times]


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Of MxKxN, gradient_MxKxN, bert, gpt2, whisper.")] = None,
    target: Annotated[str, typer.Option(help="A CPU with AVX2.")] = "x86-64-v3",
    rounds: Annotated[int, typer.Option(help="Calls of each, in turn.")] = 40,
) -> None:
    """Measure products and layers of transformers for AVX2."""
    os.environ.update(limits.environment(target), OMP_NUM_THREADS="1")
    from mlc.target.host import cpu_model
    from mlc.tools.peak import measure_peak

    table = Table("work", "mlc ms", "%", "MKL %", "oneDNN %", "ratio", "difference")
    rows: list[tuple[str, float, list[float], float]] = []
    peak = 0.0
    for name in names or [*PRODUCTS, *(f"gradient_{sizes}" for sizes in GRADIENTS), *LAYERS]:
        flops, function, arrays = workload(name)
        libraries = [Ours(target), Torch(False), *([] if name.startswith("gradient_") else [Torch(True)])]
        runs = [each.run(function, *arrays) for each in libraries]
        ours, theirs = (np.asarray(run()) for run in runs[:2])
        peak = max(peak, measure_peak(1, target).flops)  # on a busy machine, the best of several
        apart = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        rows.append((name, flops, quartiles(runs, rounds), apart))
    for name, flops, times, apart in rows:
        shares = [f"{flops / seconds / peak:.0%}" for seconds in times] + ["-"] * (3 - len(times))
        table.add_row(name, f"{1e3 * times[0]:.3f}", *shares, f"{min(times[1:]) / times[0]:.2f}", f"{apart:.0e}")
    Console(width=120).print(f"{cpu_model()}, code for {target}, peak {peak / 1e9:.0f} GFLOP/s", table)


if __name__ == "__main__":
    typer.run(main)
