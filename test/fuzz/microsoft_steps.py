"""Steps of com.microsoft."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from growing import Graph

DOMAIN = "com.microsoft"


def _add(g: Graph, op: str, inputs: list[str], *rest: Any, **how: Any) -> str:
    return g.add(op, inputs, *rest, domain=DOMAIN, **how)


def gelu(g: Graph) -> None:
    if name := g.value(1):
        shape, op = g.shapes[name], g.random.choice(["Gelu", "FastGelu", "QuickGelu", "BiasGelu"])
        bias = [g.new(shape[-1:])] if op == "BiasGelu" or (op == "FastGelu" and g.random.random() < 0.5) else []
        _add(g, op, [name, *bias], shape, **({"alpha": 0.9} if op == "QuickGelu" else {}))


def product(g: Graph) -> None:
    if (name := g.value(2)) is None:
        return
    *batch, m, k = g.shapes[name]
    n, left, right = g.random.randint(1, 30), g.random.randint(0, 1), g.random.randint(0, 1)
    m, k = (k, m) if left else (m, k)
    w = g.new((*batch, n, k) if right else (*batch, k, n))
    op = g.random.choice(["FusedMatMul", "TransposeMatMul", *["FusedGemm"] * (not batch)])
    how: dict[str, Any] = {"transA": left, "transB": right, "alpha": 0.7}
    if op == "FusedGemm":
        how["activation"] = g.random.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu"])
        how |= {"activation_alpha": 0.2} if how["activation"] == "LeakyRelu" else {}
    y = _add(g, op, [name, w, *([g.new((n,))] if op == "FusedGemm" else [])], (*batch, m, n), **how)
    g.add("Tanh", [y], (*batch, m, n))


def convolution(g: Graph) -> None:
    n, c, h, w, filters = g.random.randint(1, 2), *(g.random.randint(1, 9) for _ in range(3)), g.random.randint(1, 20)
    result = (n, filters, h, w)
    inputs = [g.new((n, c, h + 2, w + 2)), g.new((filters, c, 3, 3)), g.new((filters,))]
    inputs += [g.new(result)] * g.random.randint(0, 1)
    how = g.random.choice([{"activation": "Relu"}, {"activation": "Tanh"}, {"activation": "Sigmoid"}])
    g.add("Tanh", [_add(g, "FusedConv", inputs, result, **how)], result)


def normalised(g: Graph) -> None:
    batch, rows, size = (g.random.randint(1, 8) for _ in range(3))
    shape, op = (batch, rows, size), g.random.choice(["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
    name = next((n for n in [g.value(3)] if n and len(g.shapes[n]) == 3), None) or g.new(shape)
    shape = g.shapes[name]  # type: ignore[assignment]
    beta = [g.new(shape[-1:])] if op == "SkipLayerNormalization" else []
    bias = [g.new(shape[-1:])] if g.random.random() < 0.5 else []
    _add(g, op, [name, g.new(shape), g.new(shape[-1:]), *beta, *bias], shape, epsilon=0.1)


def simplified(g: Graph) -> None:
    if name := g.value(1):
        g.add("SimplifiedLayerNormalization", [name, g.new(g.shapes[name][-1:])], g.shapes[name], epsilon=0.1, axis=-1)


def embedded(g: Graph) -> None:
    batch, rows, size = (g.random.randint(1, 6) for _ in range(3))
    ids = [g.constant(g.numpy().integers(0, n, (batch, rows)).astype("i4")) for n in (20, 2)]
    rest = [g.new(s) for s in ((20, size), (9, size), (2, size), (size,), (size,))]
    _add(g, "EmbedLayerNormalization", [*ids, *rest], (batch, rows, size), "float32", epsilon=0.1)
    g.more((batch,), "int32", last=True)


def attention(g: Graph) -> None:
    """With a mask, a bias, a past, of fused or separate inputs."""
    batch, rows, heads, size = (g.random.randint(1, 4) for _ in range(4))
    size, width = 2 * size, 2 * heads * size
    causal = g.random.randint(0, 1)
    if g.random.random() < 0.5:
        x, inner = g.new((batch, rows, 6)), heads * size
        mask = [g.constant((g.numpy().random((batch, rows)) < 0.7).astype("i4"))] if g.random.random() < 0.5 else []
        inputs = [x, g.new((6, 3 * inner)), g.new((3 * inner,)), *mask]
        _add(g, "Attention", inputs, (batch, rows, inner), num_heads=heads, unidirectional=causal)
        return
    keys = g.random.randint(1, 6) if not causal else rows
    inputs = [g.new((batch, r, width)) for r in (rows, keys, keys)]
    bias = g.new((3 * width,)) if g.random.random() < 0.5 else ""
    added = [bias, "", g.new((1, heads, rows, keys))] if g.random.random() < 0.5 else [bias] * bool(bias)
    _add(g, "MultiHeadAttention", inputs + added, (batch, rows, width), num_heads=heads, unidirectional=causal)


def grouped(g: Graph) -> None:
    """One step after others, or the first steps."""
    batch, groups, each, past = (g.random.randint(1, 3) for _ in range(4))
    rows, past = (1, past) if g.random.random() < 0.6 else (g.random.randint(1, 5), 0)
    size, heads = 16, groups * each
    inputs = [g.new((batch, rows, n * size)) for n in (heads, groups, groups)]
    inputs += [g.new((batch, groups, past, size)) for _ in "kv"]
    total = rows + past
    inputs += [g.constant(np.full(batch, total - 1, "i4")), g.constant(np.int32(total))]
    how: dict[str, Any] = {"num_heads": heads, "kv_num_heads": groups}
    if g.random.random() < 0.4:
        inputs += [g.new((12, size // 2)) for _ in "cs"]
        how |= {"do_rotary": 1, "rotary_interleaved": g.random.randint(0, 1)}
    _add(g, "GroupQueryAttention", inputs, (batch, rows, heads * size), **how)
    for _ in "kv":
        g.more((batch, groups, total, size), "float32", last=True)


def rotated(g: Graph) -> None:
    batch, rows, heads = (g.random.randint(1, 4) for _ in range(3))
    size = 2 * g.random.randint(1, 8)
    shape = (batch, heads, rows, size) if g.random.random() < 0.5 else (batch, rows, heads * size)
    positions = g.numpy().integers(0, 9, (batch, rows)) if g.random.random() < 0.5 else np.array([3])
    inputs = [g.new(shape), g.constant(positions), g.new((12, size // 2)), g.new((12, size // 2))]
    _add(g, "RotaryEmbedding", inputs, shape, interleaved=g.random.randint(0, 1))


def packed(g: Graph) -> None:
    """Weights of a few bits in blocks."""
    if (name := g.value(2)) is None:
        return
    *outer, k = g.shapes[name]
    n, bits, block = g.random.randint(1, 20), g.random.choice([4, 8]), g.random.choice([16, 32])
    blocks, random = -(-k // block), g.numpy()
    weights = g.constant(random.integers(0, 256, (n, blocks, block * bits // 8)).astype("u1"))
    scales = g.constant(random.uniform(0.01, 0.1, n * blocks).astype("f4"))
    zeros = [g.constant(random.integers(0, 256, n * -(-blocks * bits // 8)).astype("u1"))] * g.random.randint(0, 1)
    how = {"K": k, "N": n, "bits": bits, "block_size": block}
    y = _add(g, "MatMulNBits", [name, weights, scales, *zeros], (*outer, n), **how)
    g.add("Tanh", [y], (*outer, n), last=True)


def _scale(g: Graph, value: float | None = None) -> str:
    return g.constant(np.float32(value or g.random.choice([0.02, 0.05, 0.1])))


def _zero(g: Graph, kind: str) -> str:
    return g.constant(np.array(g.random.randint(90, 130) - 128 * (kind == "int8"), kind))


def integers(g: Graph) -> None:
    """Products of bytes that are floats after, or bytes again."""
    m, k, n = (g.random.randint(1, 20) for _ in range(3))
    op = g.random.choice(["MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QGemm"])
    right, scale, zero = g.new((k, n), "int8"), _scale(g), g.constant(np.int8(g.random.randint(-9, 9)))
    if op == "MatMulIntegerToFloat":
        inputs = [g.new((m, k), "uint8"), right, _scale(g), scale, g.constant(np.uint8(119)), zero, g.new((n,))]
        _add(g, op, inputs, (m, n), "float32", last=True)
    elif op == "DynamicQuantizeMatMul":
        _add(g, op, [g.new((m, k)), right, scale, zero, g.new((n,))], (m, n), "float32", last=True)
    else:
        inputs = [g.new((m, k), "uint8"), _scale(g), _zero(g, "uint8"), right, scale, zero]
        inputs += [g.constant(g.numpy().integers(-500, 500, n).astype("i4")), _scale(g), _zero(g, "uint8")]
        _add(g, op, inputs, (m, n), "uint8", rounded=True)


def bytes_(g: Graph) -> None:
    """Functions of bytes."""
    kind, shape = g.random.choice(["uint8", "int8"]), g.shape(g.random.randint(1, 3))
    part = [g.new(shape, kind), _scale(g), _zero(g, kind)]
    out = [_scale(g), _zero(g, kind)]
    add = partial(_add, g, kind=kind, rounded=True)
    op = g.random.choice(["QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "Concat"])
    if op in ("QLinearAdd", "QLinearMul"):
        add(op, [*part, g.new(shape, kind), _scale(g), _zero(g, kind), *out], shape)
    elif op == "QLinearSoftmax":
        # Where 1 is more than the largest byte, onnxruntime wraps around; and of one element, whose sum is 2**32.
        ends = [_scale(g, 1 / 255), g.constant(np.array(0 if kind == "uint8" else -128, kind))]
        if axes := [n for n, d in enumerate(shape) if d > 1]:
            add(op, [*part, *ends], shape, axis=g.random.choice(axes), opset=13)
    elif op == "Concat":
        add("QLinearConcat", [*out, *part, *part], (*shape[:-1], 2 * shape[-1]), axis=len(shape) - 1)
    else:
        add(op, [*part, *out], shape, **({"alpha": 0.2} if op == "QLinearLeakyRelu" else {}))


def pooled(g: Graph) -> None:
    """Means of bytes."""
    n, c, h, w = g.shape(4)
    inputs = [g.new((n, c, h + 1, w + 1), "uint8"), _scale(g), _zero(g, "uint8"), _scale(g), _zero(g, "uint8")]
    if g.random.random() < 0.5:
        _add(g, "QLinearGlobalAveragePool", inputs, (n, c, 1, 1), "uint8", rounded=True, channels_last=0)
    else:
        _add(g, "QLinearAveragePool", inputs, (n, c, h, w), "uint8", rounded=True, kernel_shape=[2, 2])


MICROSOFT: tuple[Callable[[Graph], None], ...] = (
    gelu, gelu, product, product, convolution, normalised, simplified, embedded, attention, attention, grouped, grouped,
    rotated, packed, packed, integers, bytes_, bytes_, pooled,
)  # fmt: skip
