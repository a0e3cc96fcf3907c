"""More networks whose training steps are measured, and the functions of networks in JAX."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

import mlc.numpy as mnp
from benchmarks import gradient_networks as gradients
from benchmarks.gradient_networks import Network
from mlc import nn

CHARACTERS = 96
OURS = SimpleNamespace(
    **vars(gradients.OURS),
    relu6=lambda x: mnp.clip(x, 0, 6),
    embedding=nn.embedding,
    depthwise=lambda x, w, stride: nn.conv(x, w, strides=stride, padding=1, groups=w.shape[0]),
    causal=lambda q, k, v: nn.dot_product_attention(q, k, v, causal=True),
)


def torch_functions() -> SimpleNamespace:
    """The functions of ``OURS`` in torch."""
    import torch

    F = torch.nn.functional
    return SimpleNamespace(
        **vars(gradients.torch_functions()),
        relu6=F.relu6,
        embedding=F.embedding,
        depthwise=lambda x, w, stride: F.conv2d(x, w, stride=stride, padding=1, groups=w.shape[0]),
        causal=lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    )


def jax_functions() -> SimpleNamespace:
    """The functions of ``OURS`` in JAX."""
    import jax
    import jax.numpy as jnp

    def conv(x: Any, w: Any, stride: int, pad: int, groups: int = 1) -> Any:
        pads = [(pad, pad)] * 2
        return jax.lax.conv_general_dilated(x, w, (stride, stride), pads, feature_group_count=groups)

    def normalized(x: Any, axes: Any) -> Any:
        mean = x.mean(axes, keepdims=True)
        return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + 1e-5)

    def batch_norm(x: Any, s: Any, b: Any) -> Any:
        return normalized(x, (0, 2, 3)) * s[:, None, None] + b[:, None, None]

    def attention(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
        heads = [jnp.swapaxes(x, 1, 2) for x in (q, k, v)]
        return jnp.swapaxes(jax.nn.dot_product_attention(*heads, is_causal=causal), 1, 2)

    def cross_entropy(x: Any, labels: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], axis=1).mean()

    return SimpleNamespace(
        relu=jax.nn.relu,
        relu6=jax.nn.relu6,
        gelu=lambda x: jax.nn.gelu(x, approximate=False),
        sigmoid=jax.nn.sigmoid,
        tanh=jnp.tanh,
        conv=conv,
        depthwise=lambda x, w, stride: conv(x, w, stride, 1, w.shape[0]),
        batch_norm=batch_norm,
        layer_norm=lambda x, s, b: normalized(x, -1) * s + b,
        attention=attention,
        causal=lambda q, k, v: attention(q, k, v, True),
        embedding=lambda indices, table: table[indices],
        cross_entropy=cross_entropy,
        mean=lambda x, axes: x.mean(axes),
        reshape=jnp.reshape,
        swap=lambda x: jnp.swapaxes(x, 1, 2),
        zeros=lambda *shape: jnp.zeros(shape, jnp.float32),
        scan=jax.lax.scan,
    )


def characters(random: np.random.Generator, batch: int = 16, tokens: int = 64) -> Network:
    """A transformer on characters (Radford et al., 2018): four layers of 128 units, four heads; the next character."""
    d, heads = 128, 4
    weight, ones, zeros = gradients._weight, gradients._ones, gradients._zeros
    layers = [
        {name: weight(random, d, d, fan=d) for name in "qkvo"}
        | {"up": weight(random, d, 4 * d, fan=d), "down": weight(random, 4 * d, d, fan=4 * d)}
        | {"s1": ones(d), "b1": zeros(d), "s2": ones(d), "b2": zeros(d)}
        for _ in range(4)
    ]

    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        x = f.embedding(x, p["table"]) + p["positions"]
        for q in p["layers"]:
            y = f.layer_norm(x, q["s1"], q["b1"])
            parts = [f.swap(f.reshape(y @ q[name], (batch, tokens, heads, d // heads))) for name in "qkv"]
            x = x + f.reshape(f.swap(f.causal(*parts)), (batch, tokens, d)) @ q["o"]
            x = x + f.gelu(f.layer_norm(x, q["s2"], q["b2"]) @ q["up"]) @ q["down"]
        return f.cross_entropy(f.reshape(x @ p["w"], (batch * tokens, CHARACTERS)), labels)

    parameters = {
        "table": weight(random, CHARACTERS, d, fan=1),
        "positions": weight(random, tokens, d, fan=1),
        "layers": layers,
        "w": weight(random, d, CHARACTERS, fan=d),
    }
    text = random.integers(0, CHARACTERS, (batch, tokens))
    return Network(parameters, text, random.integers(0, CHARACTERS, batch * tokens), loss)


def mobilenet_v2(random: np.random.Generator, batch: int = 32) -> Network:
    """MobileNet-V2 (Sandler et al., 2018) for images of 32 x 32: the first two strides are 1."""
    weight = gradients._weight
    stages = [(1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]

    def layer(c: int, f: int, k: int = 1, depthwise: bool = False) -> dict[str, Any]:
        inner = 1 if depthwise else c
        return {
            "w": weight(random, f, inner, k, k, fan=inner * k * k),
            "s": gradients._ones(f),
            "b": gradients._zeros(f),
        }

    blocks, strides, c = [], [], 32
    for factor, f, count, stride in stages:
        for n in range(count):
            wide = factor * c
            up = {"up": layer(c, wide)} if factor > 1 else {}
            blocks.append(up | {"depth": layer(wide, wide, 3, True), "down": layer(wide, f)})
            strides.append(stride if n == 0 else 1)
            c = f

    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        x = f.relu6(f.batch_norm(f.conv(x, p["first"]["w"], 1, 1), p["first"]["s"], p["first"]["b"]))
        for q, stride in zip(p["blocks"], strides, strict=True):
            y = x
            if "up" in q:
                y = f.relu6(f.batch_norm(f.conv(y, q["up"]["w"], 1, 0), q["up"]["s"], q["up"]["b"]))
            y = f.relu6(f.batch_norm(f.depthwise(y, q["depth"]["w"], stride), q["depth"]["s"], q["depth"]["b"]))
            y = f.batch_norm(f.conv(y, q["down"]["w"], 1, 0), q["down"]["s"], q["down"]["b"])
            x = x + y if stride == 1 and x.shape == y.shape else y
        x = f.relu6(f.batch_norm(f.conv(x, p["last"]["w"], 1, 0), p["last"]["s"], p["last"]["b"]))
        return f.cross_entropy(f.mean(x, (2, 3)) @ p["w"], labels)

    parameters = {
        "first": layer(3, 32, 3),
        "blocks": blocks,
        "last": layer(320, 1280),
        "w": weight(random, 1280, gradients.CLASSES, fan=1280),
    }
    return gradients._network(random, parameters, (batch, 3, 32, 32), batch, loss)


NETWORKS: dict[str, Callable[..., Network]] = {
    **gradients.NETWORKS,
    "characters": characters,
    "mobilenet_v2": mobilenet_v2,
}
