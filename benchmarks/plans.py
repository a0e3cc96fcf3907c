"""Plans of training steps: how long the search takes, its proven gap, and what it finds.

    python -m benchmarks.plans                  # GPT-2 and BERT on two axes, GPT-2 on three axes of 1,024 ranks
    python -m benchmarks.plans gpt2 --mesh data=2,model=4 --layers 12
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from mlc import nn, optim
from mlc.comm.link import Link
from mlc.planning import Auto, Cluster, Level
from mlc.planning.search import Search
from mlc.planning.traced import planned_step, searched
from mlc.runtime import TensorSpec

A100 = Cluster((Level(8, Link(3e-6, 1 / 200e9)), Level(0, Link(8e-6, 1 / 20e9))), 312e12, 2e12, 0.5, 80e9, 1.0)
"""Hosts of 8 GPUs: NVLink within, 200 Gbit/s for each GPU between."""


@dataclass(frozen=True)
class Size:
    """A transformer: GPT-2 small, or BERT base without a mask of padding."""

    layers: int = 12
    hidden: int = 768
    heads: int = 12
    words: int = 50304
    batch: int = 32
    tokens: int = 1024
    causal: bool = True


GPT2, BERT = Size(), Size(words=30592, tokens=512, causal=False)


def block(x: Any, w: Any, size: Size) -> Any:
    """Attention and a perceptron of 4 times the width, each on normalized values and added to them."""
    x = x + attention(nn.layer_norm(x, *w["norm1"]), w, size)
    h = nn.gelu(nn.layer_norm(x, *w["norm2"]) @ w["up"] + w["up_bias"])
    return x + (h @ w["down"] + w["down_bias"])


def attention(x: Any, w: Any, size: Size) -> Any:
    b, t, h = x.shape
    heads = lambda y: mnp.transpose(mnp.reshape(y, (b, t, size.heads, h // size.heads)), (0, 2, 1, 3))  # noqa: E731
    q, k, v = (heads(x @ w[name] + w[name + "_bias"]) for name in "qkv")
    scores = q @ mnp.swapaxes(k, -1, -2) * (h // size.heads) ** -0.5
    if size.causal:
        scores = mnp.where(mnp.arange(t)[:, None] >= mnp.arange(t), scores, -1e9)
    mixed = mnp.transpose(nn.softmax(scores, axis=-1) @ v, (0, 2, 1, 3))
    return mnp.reshape(mixed, (b, t, h)) @ w["o"] + w["o_bias"]


def loss(w: Any, ids: Any, labels: Any, size: Size) -> Any:
    x = w["words"][ids] + w["positions"]
    for layer in w["layers"]:
        x = block(x, layer, size)
    scores = nn.layer_norm(x, *w["norm"]) @ mnp.swapaxes(w["words"], 0, 1)
    return nn.cross_entropy(mnp.reshape(scores, (-1, size.words)), mnp.reshape(labels, (-1,)))


def block_types(size: Size) -> Any:
    h = size.hidden
    square = {name: spec(h, h) for name in "qkvo"} | {name + "_bias": spec(h) for name in "qkvo"}
    norms = {"norm1": (spec(h), spec(h)), "norm2": (spec(h), spec(h))}
    return square | norms | {"up": spec(h, 4 * h), "up_bias": spec(4 * h), "down": spec(4 * h, h), "down_bias": spec(h)}


def weight_types(size: Size) -> Any:
    h = size.hidden
    return {"words": spec(size.words, h), "positions": spec(size.tokens, h), "norm": (spec(h), spec(h)),
            "layers": [block_types(size) for _ in range(size.layers)]}  # fmt: skip


def spec(*shape: int, dtype: Any = "float32") -> TensorSpec:
    return TensorSpec(np.dtype(dtype), shape)


def training(size: Size) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A step of Adam: (weights, mean, square, ids, labels) → (loss, weights, mean, square); and its types."""
    adam = optim.adam(1e-3)

    def step(w: Any, state: Any, ids: Any, labels: Any) -> Any:
        value, gradient = mlc.value_and_grad(lambda w: loss(w, ids, labels, size))(w)
        changes, state = adam.update(gradient, state, w)
        return value, optim.apply_updates(w, changes), state

    w = weight_types(size)
    numbers = spec(size.batch, size.tokens, dtype="int32")
    return step, {"w": w, "state": planned_step(adam.init, w), "ids": numbers, "labels": numbers}


def measured(name: str, size: Size, mesh: mlc.Mesh, memory: float | None = None, seconds: float = 20.0) -> Search:
    step, types = training(size)
    begin = time.process_time()
    found = searched(step, mesh, types, Auto(memory, A100, seconds=seconds))
    cpu = time.process_time() - begin
    print(f"{name} on {mesh}: {len(found.building.graph.ops)} operators, {len(found.building.problem.costs)} choices; "
          f"rules {found.rules:.1f} s, search {found.solving:.1f} s, with tracing {cpu:.1f} CPU s; "
          f"{found.solution.how}, gap {found.solution.gap:.3%}; step {found.usage.step * 1e3:.1f} ms, "
          f"{found.usage.peak / 1e9:.2f} GB")  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?", choices=["gpt2", "bert"])
    parser.add_argument("--mesh", default="data=2,model=4")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--memory", type=float)
    parser.add_argument("--text", action="store_true")
    given = parser.parse_args()
    sizes = {"gpt2": GPT2, "bert": BERT}
    if given.model is None:
        for name, size in sizes.items():
            measured(name, size, mlc.Mesh(data=2, model=4))
        measured("gpt2", Size(batch=1024), mlc.Mesh(data=32, model=4, inner=8))
        return
    from dataclasses import replace

    from mlc.planning.written import written

    axes = {name: int(count) for name, count in (each.split("=") for each in given.mesh.split(","))}
    found = measured(given.model, replace(sizes[given.model], layers=given.layers), mlc.Mesh(**axes), given.memory)
    if given.text:
        print(written(found))


if __name__ == "__main__":
    main()
