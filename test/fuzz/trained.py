"""Random networks as traced programs: layers of matrices, sequences or images, whose loss mlc and torch differentiate.

A network has one element type and its extents beside those of tiles. Each layer is ``(f, parameters, x) → x`` with the
functions of ``benchmarks.gradient_networks``, in either library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import optree

import mlc
from benchmarks.gradient_networks import CLASSES, OURS, Network, torch_functions

Layer = Callable[[Any, Any, Any], Any]
EXTENTS = (3, 8, 17, 32, 40)


class Grown:
    """A network that grows by a layer at a time; ``shape`` is that of its last value."""

    def __init__(self, seed: int):
        self.random, self.numpy = Random(seed), np.random.default_rng(seed)
        self.parameters: list[dict[str, Any]] = []
        self.layers: list[Layer] = []
        self.shape: tuple[int, ...] = ()

    def extent(self) -> int:
        return self.random.choice(EXTENTS)

    def layer(self, step: Layer, **shapes: tuple[int, ...]) -> None:
        """One more, with parameters of these shapes: vectors near 1, others scaled by the terms of a sum."""
        made = {}
        for name, shape in shapes.items():
            terms = np.prod(shape[1:] if len(shape) == 4 else shape[:1])
            scale, shift = (0.1, 1.0) if len(shape) == 1 else (terms**-0.5, 0.0)
            values = self.numpy.standard_normal(shape) * scale + shift
            made[name] = values.astype(np.float32)
        self.parameters.append(made)
        self.layers.append(step)


def dense(g: Grown) -> None:
    kind, n = g.random.choice(["relu", "gelu", "sigmoid", "tanh"]), g.extent()
    g.layer(lambda f, p, x: getattr(f, kind)(x @ p["w"] + p["b"]), w=(g.shape[-1], n), b=(n,))
    g.shape = (*g.shape[:-1], n)


def residual(g: Grown) -> None:
    d, n = g.shape[-1], g.extent()
    g.layer(lambda f, p, x: x + f.gelu(x @ p["u"]) @ p["d"], u=(d, n), d=(n, d))


def normalized(g: Grown) -> None:
    d = g.shape[-1]
    g.layer(lambda f, p, x: f.layer_norm(x, p["s"], p["b"]), s=(d,), b=(d,))


def gated(g: Grown) -> None:
    d, n = g.shape[-1], g.extent()
    g.layer(lambda f, p, x: f.sigmoid(x @ p["a"]) * f.tanh(x @ p["b"]), a=(d, n), b=(d, n))
    g.shape = (*g.shape[:-1], n)


def attention(g: Grown) -> None:
    (b, t, d), h, w = g.shape, g.random.choice([1, 2, 3]), g.random.choice([8, 16, 20])

    def step(f: Any, p: Any, x: Any) -> Any:
        q, k, v = (f.swap(f.reshape(x @ p[n], (b, t, h, w))) for n in "qkv")
        return f.reshape(f.swap(f.attention(q, k, v)), (b, t, h * w)) @ p["o"]

    g.layer(step, q=(d, h * w), k=(d, h * w), v=(d, h * w), o=(h * w, d))


def recurrent(g: Grown) -> None:
    """Over the first dimension."""
    (_, b, d), n = g.shape, g.extent()

    def step(f: Any, p: Any, x: Any) -> Any:
        def cell(h: Any, z: Any) -> tuple[Any, Any]:
            h = f.tanh(z + h @ p["h"])
            return h, h

        return f.scan(cell, f.zeros(b, n), x @ p["x"])[1]

    g.layer(step, x=(d, n), h=(n, n))
    g.shape = (*g.shape[:-1], n)


def convolution(g: Grown) -> None:
    (b, c, *size), n = g.shape, g.random.choice([3, 8, 16])
    kernel, stride = g.random.choice([1, 3, 3]), g.random.choice([1, 1, 2])
    pad = kernel // 2
    g.layer(lambda f, p, x: f.relu(f.conv(x, p["w"], stride, pad)), w=(n, c, kernel, kernel))
    g.shape = (b, n, *((d + 2 * pad - kernel) // stride + 1 for d in size))


def batch_normalized(g: Grown) -> None:
    c = g.shape[1]
    g.layer(lambda f, p, x: f.tanh(f.batch_norm(x, p["s"], p["b"])), s=(c,), b=(c,))


LAYERS: dict[int, tuple[Callable[[Grown], None], ...]] = {
    2: (dense, dense, residual, normalized, gated),
    3: (dense, residual, normalized, gated, attention, attention, recurrent),
    4: (convolution, convolution, batch_normalized),
}


def trained(seed: int, size: int = 4) -> Network:
    """A network of ``size`` layers and a classifier; the same for the same seed."""
    g = Grown(seed)
    rank = g.random.choice([2, 3, 3, 4])
    g.shape = {2: (g.extent(), g.extent()), 3: (g.random.randint(2, 5), g.extent(), g.extent())}.get(rank) or (
        g.random.randint(2, 3), g.random.choice([3, 8]), g.random.randint(4, 9), g.random.randint(4, 9))  # fmt: skip
    x = g.numpy.standard_normal(g.shape).astype(np.float32)
    for _ in range(size):
        g.random.choice(LAYERS[rank])(g)
    batch, features = g.shape[0], g.shape[1] if rank == 4 else g.shape[-1]
    axes, layers = {2: (), 3: (1,), 4: (2, 3)}[rank], list(g.layers)
    g.parameters.append({"w": (g.numpy.standard_normal((features, CLASSES)) * features**-0.5).astype(np.float32)})

    def loss(f: Any, parameters: Any, x: Any, labels: Any) -> Any:
        for layer, p in zip(layers, parameters[:-1], strict=True):
            x = layer(f, p, x)
        return f.cross_entropy((f.mean(x, axes) if axes else x) @ parameters[-1]["w"], labels)

    return Network(g.parameters, x, g.numpy.integers(0, CLASSES, batch), loss)


def difference_from_torch(seed: int, size: int, precise: float, **how: Any) -> Iterator[str]:
    """A line for a loss or a gradient that is further from torch's in float64 than ``precise`` of the largest value."""
    given = trained(seed, size)
    step = mlc.value_and_grad(lambda p: given.loss(OURS, p, given.x, given.labels))
    found = optree.tree_leaves(mlc.jit(step, wait=True, **how)(given.parameters))
    for n, (ours, theirs) in enumerate(zip(found, _by_torch(given), strict=True)):
        error = np.abs(np.asarray(ours, np.float64) - theirs).max()
        if not error <= precise * max(1, np.abs(theirs).max()):
            yield f"{'gradient' if n else 'loss'} {n} is off by {error:.3g}, the largest is {np.abs(theirs).max():.3g}"


def _by_torch(given: Network) -> list[Any]:
    """The loss and its gradients."""
    import torch

    leaves, tree = optree.tree_flatten(given.parameters)
    tensors = [torch.tensor(leaf, dtype=torch.float64, requires_grad=True) for leaf in leaves]
    functions = torch_functions()
    functions.zeros = lambda *shape: torch.zeros(shape, dtype=torch.float64)
    x, labels = torch.tensor(given.x, dtype=torch.float64), torch.from_numpy(given.labels)
    loss = given.loss(functions, optree.tree_unflatten(tree, tensors), x, labels)
    return [each.detach().numpy() for each in (loss, *torch.autograd.grad(loss, tensors))]
