"""Attention with its gradients alone, beside torch: `python -m benchmarks.attention_gradients [SHAPE…]`.

A run is forward and backward, by queries, keys and values, of f32. Torch runs its streamed kernels (SDPA, flash) and
its plain ones, which store the scores. CPU time of one thread, in turn, as ratios; memory is the growth of the
resident set of a process of its own, from the first run on. The largest difference from torch in float64 is of the
largest value.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from benchmarks.attention import Shape
from benchmarks.memory import peak_bytes
from mlc import nn

SHAPES = {
    "bert_128": Shape(96, 1, 128, 128, 64, 64),
    "bert_512": Shape(24, 1, 512, 512, 64, 64),
    "gpt_512": Shape(24, 1, 512, 512, 64, 64, causal=True),
    "gpt_1024": Shape(12, 1, 1024, 1024, 64, 64, causal=True),
    "gpt_2048": Shape(8, 1, 2048, 2048, 64, 64, causal=True),
    "long_4096": Shape(4, 1, 4096, 4096, 64, 64),
}
ENGINES = ("mlc", "torch", "torch stored")
Arrays = list[np.ndarray]
Run = Callable[[Arrays], Arrays]


def arguments(shape: Shape) -> Arrays:
    """Queries, keys, values and weights of the results."""
    normal, s = np.random.default_rng(7).standard_normal, shape
    dims = [(s.queries, s.size), (s.keys, s.size), (s.keys, s.value), (s.queries, s.value)]
    return [normal((1, s.heads, *d)).astype(np.float32) for d in dims]


def ours(shape: Shape) -> Run:
    def loss(q: Any, k: Any, v: Any, g: Any) -> Any:
        return mnp.sum(nn.dot_product_attention(q, k, v, causal=shape.causal) ** 2 * g)

    compiled = mlc.jit(mlc.grad(loss, argnums=(0, 1, 2)), threads=1, wait=True)
    return lambda args: [np.asarray(x) for x in compiled(*args)]


def torchs(shape: Shape, stored: bool) -> Run:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    torch.set_num_threads(1)

    def run(args: Arrays) -> Arrays:
        inputs = [torch.from_numpy(x).requires_grad_() for x in args[:3]]
        with sdpa_kernel(SDPBackend.MATH if stored else SDPBackend.FLASH_ATTENTION):
            y = scaled_dot_product_attention(*inputs, is_causal=shape.causal)
        return [x.numpy() for x in torch.autograd.grad((y**2 * torch.from_numpy(args[3])).sum(), inputs)]

    return run


def engine(name: str, shape: Shape) -> Run:
    return ours(shape) if name == "mlc" else torchs(shape, name == "torch stored")


def wanted(shape: Shape, args: Arrays) -> Arrays:
    """In float64, head by head."""
    q, k, v, g = (np.asarray(x, np.float64)[0] for x in args)
    masked = np.where(np.tri(shape.queries, shape.keys, dtype=bool), 0, -np.inf) if shape.causal else 0.0
    heads = [_gradients(*each, masked) for each in zip(q, k, v, g, strict=True)]
    return [np.stack(each)[None] for each in zip(*heads, strict=True)]


def _gradients(q: np.ndarray, k: np.ndarray, v: np.ndarray, g: np.ndarray, masked: Any) -> Arrays:
    """Those of sum(y² · g) for y = softmax(q kT / sqrt(size) + masked) v: the chain rule, by hand."""
    scale = q.shape[-1] ** -0.5
    power = np.exp((scores := q @ k.T * scale + masked) - scores.max(-1, keepdims=True))
    p = power / power.sum(-1, keepdims=True)
    by_y = 2 * (p @ v) * g
    by_p = by_y @ v.T
    by_scores = p * (by_p - (by_p * p).sum(-1, keepdims=True)) * scale
    return [by_scores @ k, by_scores.T @ q, p.T @ by_y]


def times(shape: Shape, seconds: float) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds of each engine, and its largest difference from float64."""
    args, runs = arguments(shape), {name: engine(name, shape) for name in ENGINES}
    expected = wanted(shape, args)
    errors = {
        name: max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(run(args), expected, strict=True))
        for name, run in runs.items()
    }
    found: dict[str, list[float]] = {name: [] for name in runs}
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(found["mlc"]) < 3:
        for name, run in runs.items():
            before = time.process_time()
            run(args)
            found[name].append(time.process_time() - before)
    return {name: 1e3 * median(each) for name, each in found.items()}, errors


def _alone(name: str, shape: Shape) -> None:
    args, run = arguments(shape), engine(name, shape)
    if name != "mlc":
        run([x[:, :1, :8] for x in args])  # libraries are loaded
    else:
        small = Shape(1, 1, 8, 8, shape.size, shape.value, shape.causal)
        ours(small)(arguments(small))
    before = peak_bytes()
    run(args)
    print((peak_bytes() - before) / 2**20)


def memory(shape: str, name: str) -> float:
    """MiB that a run adds to the resident set of a process."""
    command = [sys.executable, "-m", "benchmarks.attention_gradients", shape, "--alone", name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(SHAPES)}; default: all")
    parser.add_argument("--seconds", type=float, default=4, help="of each shape, default 4")
    parser.add_argument("--alone", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        _alone(options.alone, SHAPES[options.shapes[0]])
        return
    for shape in options.shapes or SHAPES:
        took, errors = times(SHAPES[shape], options.seconds)
        for name, t in took.items():
            ratio, size = f"{t / took['mlc']:.2f}x", memory(shape, name)
            print(f"{shape:10} {name:12} {t:8.1f} ms {ratio:>6} {size:7.0f} MiB  {errors[name]:.0e}", flush=True)


if __name__ == "__main__":
    main()
