"""Networks whose gradients are measured, each written for mlc and for torch: parameters, inputs and the two losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from mlc import nn

Parameters = Any  # a tree of arrays
CLASSES = 10


@dataclass(frozen=True)
class Network:
    """``loss(functions, parameters, x, labels)``: the loss by ``OURS`` or ``torch_functions``."""

    parameters: Parameters
    x: np.ndarray[Any, Any]
    labels: np.ndarray[Any, Any]
    loss: Callable[..., Any]


def _scan(step: Callable[..., Any], state: Any, xs: Any) -> tuple[Any, Any]:
    return mlc.scan(step, state, xs)


OURS = SimpleNamespace(
    relu=nn.relu,
    gelu=nn.gelu,
    sigmoid=nn.sigmoid,
    tanh=nn.tanh,
    conv=lambda x, w, stride, pad: nn.conv(x, w, strides=stride, padding=pad),
    batch_norm=nn.batch_norm,
    layer_norm=nn.layer_norm,
    attention=nn.dot_product_attention,
    cross_entropy=nn.cross_entropy,
    mean=lambda x, axes: mnp.mean(x, axis=axes),
    reshape=mnp.reshape,
    swap=lambda x: mnp.permute_dims(x, (0, 2, 1, 3)),
    zeros=lambda *shape: np.zeros(shape, np.float32),
    scan=_scan,
)


def torch_functions() -> SimpleNamespace:
    """The functions of ``OURS`` in torch."""
    import torch

    F = torch.nn.functional

    def scan(step: Callable[..., Any], state: Any, xs: Any) -> tuple[Any, Any]:
        ys = []
        for x in xs:
            state, y = step(state, x)
            ys.append(y)
        return state, torch.stack(ys)

    return SimpleNamespace(
        relu=F.relu,
        gelu=F.gelu,
        sigmoid=torch.sigmoid,
        tanh=torch.tanh,
        conv=lambda x, w, stride, pad: F.conv2d(x, w, stride=stride, padding=pad),
        batch_norm=lambda x, s, b: F.batch_norm(x, None, None, s, b, training=True),
        layer_norm=lambda x, s, b: F.layer_norm(x, s.shape, s, b),
        attention=F.scaled_dot_product_attention,
        cross_entropy=F.cross_entropy,
        mean=lambda x, axes: x.mean(axes),
        reshape=torch.reshape,
        swap=lambda x: x.permute(0, 2, 1, 3),
        zeros=lambda *shape: torch.zeros(shape),
        scan=scan,
    )


def _weight(random: np.random.Generator, *shape: int, fan: int) -> np.ndarray[Any, Any]:
    return (random.standard_normal(shape) * np.sqrt(1 / fan)).astype(np.float32)


def _ones(n: int) -> np.ndarray[Any, Any]:
    return np.ones(n, np.float32)


def _zeros(n: int) -> np.ndarray[Any, Any]:
    return np.zeros(n, np.float32)


def _network(
    random: np.random.Generator, parameters: Parameters, shape: tuple[int, ...], batch: int, loss: Any
) -> Network:
    x = random.standard_normal(shape).astype(np.float32)
    return Network(parameters, x, random.integers(0, CLASSES, batch), loss)


def mlp(random: np.random.Generator, batch: int = 64) -> Network:
    """784-512-512-10."""
    sizes = [(784, 512), (512, 512), (512, CLASSES)]
    layers = [(_weight(random, a, b, fan=a), _zeros(b)) for a, b in sizes]

    def loss(f: Any, layers: Any, x: Any, labels: Any) -> Any:
        for w, b in layers[:-1]:
            x = f.relu(x @ w + b)
        return f.cross_entropy(x @ layers[-1][0] + layers[-1][1], labels)

    return _network(random, layers, (batch, 784), batch, loss)


def resnet18(random: np.random.Generator, batch: int = 32) -> Network:
    """ResNet-18 for images of 32 x 32 (He et al., 2015), with statistics of the batch."""

    def normalized(c: int, f: int, k: int) -> dict[str, Any]:
        return {"w": _weight(random, f, c, k, k, fan=c * k * k), "s": _ones(f), "b": _zeros(f)}

    stages = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
    blocks = [
        {"one": normalized(c, f, 3), "two": normalized(f, f, 3)} | ({"down": normalized(c, f, 1)} if c != f else {})
        for c, f, _ in (*stages, (512, 512, 1))
    ]
    parameters = {"first": normalized(3, 64, 3), "blocks": blocks, "w": _weight(random, 512, CLASSES, fan=512)}

    def layer(f: Any, p: Any, x: Any, stride: int, pad: int) -> Any:
        return f.batch_norm(f.conv(x, p["w"], stride, pad), p["s"], p["b"])

    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        x = f.relu(layer(f, p["first"], x, 1, 1))
        for q in p["blocks"]:
            stride = 2 if "down" in q else 1
            y = layer(f, q["two"], f.relu(layer(f, q["one"], x, stride, 1)), 1, 1)
            x = f.relu(y + (layer(f, q["down"], x, 2, 0) if "down" in q else x))
        return f.cross_entropy(f.mean(x, (2, 3)) @ p["w"], labels)

    return _network(random, parameters, (batch, 3, 32, 32), batch, loss)


def bert6(random: np.random.Generator, batch: int = 8, tokens: int = 128) -> Network:
    """Six layers of BERT-base (Devlin et al., 2018) on embedded tokens."""
    d, heads = 768, 12
    layers = [
        {name: _weight(random, d, d, fan=d) for name in "qkvo"}
        | {"up": _weight(random, d, 4 * d, fan=d), "down": _weight(random, 4 * d, d, fan=4 * d)}
        | {"s1": _ones(d), "b1": _zeros(d), "s2": _ones(d), "b2": _zeros(d), "c": _zeros(4 * d), "e": _zeros(d)}
        for _ in range(6)
    ]

    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        for q in p["layers"]:
            parts = [f.swap(f.reshape(x @ q[name], (batch, tokens, heads, d // heads))) for name in "qkv"]
            attended = f.reshape(f.swap(f.attention(*parts)), (batch, tokens, d))
            x = f.layer_norm(x + attended @ q["o"], q["s1"], q["b1"])
            x = f.layer_norm(x + f.gelu(x @ q["up"] + q["c"]) @ q["down"] + q["e"], q["s2"], q["b2"])
        return f.cross_entropy(f.mean(x, (1,)) @ p["w"], labels)

    parameters = {"layers": layers, "w": _weight(random, d, CLASSES, fan=d)}
    return _network(random, parameters, (batch, tokens, d), batch, loss)


def lstm(random: np.random.Generator, batch: int = 16, steps: int = 64) -> Network:
    """Two layers of 256 units (Hochreiter and Schmidhuber, 1997) over 64 steps of 128 features."""
    d = 256
    cells = [
        {"x": _weight(random, n, 4 * d, fan=n), "h": _weight(random, d, 4 * d, fan=d), "b": _zeros(4 * d)}
        for n in (128, d)
    ]

    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        for q in p["cells"]:

            def step(state: Any, z: Any, q: Any = q) -> tuple[Any, Any]:
                h, c = state
                gates = z + h @ q["h"]
                i, o, g, k = (gates[:, n * d : (n + 1) * d] for n in range(4))
                c = f.sigmoid(g) * c + f.sigmoid(i) * f.tanh(k)
                h = f.sigmoid(o) * f.tanh(c)
                return (h, c), h

            _, x = f.scan(step, (f.zeros(batch, d), f.zeros(batch, d)), x @ q["x"] + q["b"])
        return f.cross_entropy(x[-1] @ p["w"], labels)

    parameters = {"cells": cells, "w": _weight(random, d, CLASSES, fan=d)}
    return _network(random, parameters, (steps, batch, 128), batch, loss)


NETWORKS: dict[str, Callable[..., Network]] = {"mlp": mlp, "resnet18": resnet18, "bert6": bert6, "lstm": lstm}
