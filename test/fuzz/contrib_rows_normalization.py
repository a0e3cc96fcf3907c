"""Cases of normalizations, rotations and gates."""

from __future__ import annotations

from typing import Any

import numpy as np
from contrib import BF16, Case, Data, Draw, row


@row("SkipLayerNormalization")
def skip_layer(d: Draw) -> Case:
    batch, rows, size = d.open("batch", 1, 3, 0.1), d.open("rows", 1, 5), d.int(1, 20)
    kind = d.one("f4", "f4", "f2")
    shape = (batch, rows, size) if d.flip(0.7) else (rows, size)
    skip = shape if d.flip(0.6) else (rows, size) if d.flip() else (1, rows, size)
    inputs = [d.normal(*shape, kind=kind), d.normal(*(skip if len(shape) == 3 else shape), kind=kind)]
    inputs.append(d.normal(size, kind=kind, constant=d.flip()))
    inputs += [d.normal(size, kind=kind) if d.flip() else None for _ in "bb"]
    outputs = [True, False, False, d.flip()]
    return Case("SkipLayerNormalization", inputs, {"epsilon": d.one(1e-5, 0.1)} if d.flip() else {}, outputs)


def _kind(d: Draw) -> Any:
    return d.one("f4", "f4", "f2", BF16)


@row("MRotaryEmbedding")
def multimodal_rotary(d: Draw) -> Case:
    batch, rows, heads, kind = d.open("batch", 1, 3), d.open("rows", 1, 5), d.int(1, 3), d.one("f4", "f4", "f2")
    sections = [d.int(1, 3) for _ in range(3)]
    layout = d.int(0, 1)
    sections = [max(sections), *[min(sections)] * 2] if layout else sections
    pairs, rest = sum(sections), d.one(0, 0, 2)
    size, flat = 2 * pairs + rest, d.flip()
    shape = (batch, rows, heads * size) if flat else (batch, heads, rows, size)
    how: dict[str, Any] = {"mrope_section": sections}
    how |= {"mrope_layout": layout} if layout or d.flip() else {}
    how |= {"interleaved": d.int(0, 1)} if d.flip() else {}
    how |= {"num_heads": heads} if flat or rest or d.flip() else {}
    how |= {"rotary_embedding_dim": 2 * pairs} if rest else {}
    inputs = [d.normal(*shape, kind=kind), d.integers(0, 12, 3, batch, rows, kind="i8")]
    inputs += [d.normal(12, pairs, kind=kind, constant=True) for _ in "cs"]
    return Case("MRotaryEmbedding", inputs, how)


@row("RotaryEmbedding")
def rotary(d: Draw) -> Case:
    batch, rows, heads, kind = d.open("batch", 1, 3), d.open("rows", 1, 5), d.int(1, 3), d.one("f4", "f4", "f2")
    pairs, rest = d.int(1, 5), d.one(0, 0, 2)
    size, flat = 2 * pairs + rest, d.flip()
    shape = (batch, rows, heads * size) if flat else (batch, heads, rows, size)
    how: dict[str, Any] = {"interleaved": d.int(0, 1)} if d.flip() else {}
    how |= {"num_heads": heads} if rest or d.flip() else {}
    how |= {"rotary_embedding_dim": 2 * pairs} if rest else {}
    positions = d.integers(0, 12, batch, rows, kind="i8") if d.flip() else d.integers(0, 5, 1, kind="i8")
    caches = [d.normal(12, pairs, kind=kind, constant=True) for _ in "cs"]
    return Case("RotaryEmbedding", [d.normal(*shape, kind=kind), positions, *caches], how)


def _mask(d: Draw, batch: int, rows: int) -> Data:
    """Ones and then zeros."""
    return d.data(np.sort(d.numbers.integers(0, 2, (batch, rows)))[:, ::-1].astype("i4"), (batch, rows))


@row("QEmbedLayerNormalization")
def quantized_embeddings(d: Draw) -> Case:
    batch, rows, size, kind = d.open("batch", 1, 3), d.open("rows", 1, 6), d.int(1, 9), d.one("u1", "i1")
    segments, mask = d.flip(), d.flip()
    inputs: list[Data | None] = [d.integers(0, 9, batch, rows), d.integers(0, 2, batch, rows) if segments else None]
    given = (True, True, segments, True, True)
    shapes = ((9, size), (8, size), (2, size), (size,), (size,))
    inputs += [d.bytes(*s, kind=kind, constant=True) if g else None for s, g in zip(shapes, given, strict=True)]
    inputs.append(
        d.data(np.sort(d.numbers.integers(0, 2, (batch, rows)))[:, ::-1].astype("i4"), (batch, rows)) if mask else None
    )
    inputs += [d.given(d.one(0.02, 0.05), "f4") if g else None for g in given]
    inputs += [
        d.integers(*((-9, 9) if kind == "i1" else (120, 136)), kind=kind, constant=True) if g else None for g in given
    ]
    how = {"epsilon": 0.01} if d.flip() else {}
    return Case("QEmbedLayerNormalization", inputs, how, (True, True), rtol=2e-4)


@row("EmbedLayerNormalization")
def embeddings(d: Draw) -> Case:
    batch, rows, size = d.open("batch", 1, 3), d.open("rows", 1, 6), d.int(1, 9)
    segments, mask, positions = d.flip(), d.flip(), d.flip(0.3)
    inputs: list[Data | None] = [d.integers(0, 9, batch, rows), d.integers(0, 2, batch, rows) if segments else None]
    inputs += [d.normal(n, size, constant=True) for n in (9, 8)]
    inputs += [d.normal(2, size, constant=True) if segments else None, d.normal(size), d.normal(size)]
    inputs.append(
        d.data(np.sort(d.numbers.integers(0, 2, (batch, rows)))[:, ::-1].astype("i4"), (batch, rows)) if mask else None
    )
    inputs.append(d.integers(0, 8, d.one(batch, 1), rows) if positions else None)
    how = {"epsilon": 0.01} if d.flip() else {}
    return Case("EmbedLayerNormalization", inputs, how, (True, True, d.flip()), rtol=2e-4)


@row("SwiGLU, ai.onnx")
def swiglu_28(d: Draw) -> Case:
    kind, shape = d.one("f4", "f2", "f8"), (d.open("batch", 1, 4), d.int(1, 9))
    how = {"alpha": d.one(0.5, 1.702)} if d.flip() else {}
    return Case("SwiGLU", [d.normal(*shape, kind=kind, scale=2) for _ in "ab"], how, domain="", opset=28)


@row("ScaledSiLU")
def scaled_silu(d: Draw) -> Case:
    kind, shape = _kind(d), (d.open("batch", 1, 4, 0.1), d.int(1, 9))
    how = {"alpha": d.one(0.5, 1.702)} if d.flip() else {}
    scale = d.given(1.3, d.one("f4", "f2", BF16)) if d.flip(0.4) else None
    return Case("ScaledSiLU", [d.normal(*shape, kind=kind, scale=2), scale], how)


@row("GatedAdd")
def gated_add(d: Draw) -> Case:
    kind, rows = d.one("f4", "f2"), (d.open("batch", 1, 4), d.open("rows", 1, 4))[: d.int(1, 2)]
    size = d.int(1, 9)
    return Case("GatedAdd", [d.normal(*rows, n, kind=kind) for n in (size, size, 1)])


@row("GatedRMSNorm")
def gated_rms_norm(d: Draw) -> Case:
    kind, rows = _kind(d), (d.open("batch", 1, 4), d.open("rows", 1, 4))
    size, heads = d.int(1, 9), d.int(1, 3)
    how: dict[str, Any] = {"activation": d.one("silu", "swish", "sigmoid")} if d.flip() else {}
    how |= {"epsilon": 0.1} if d.flip() else {}
    x, gate = (d.normal(*rows, heads * size, kind=kind) for _ in "xg")
    return Case("GatedRMSNorm", [x, d.normal(size, kind=kind), gate], how)


def _streams(d: Draw) -> tuple[Any, tuple[int, ...], int, int, dict[str, Any], tuple[int, ...]]:
    """Element, leading dimensions, streams, their size, attributes, shape of the streams."""
    rows = (d.open("batch", 1, 3), d.open("rows", 1, 4))[: d.int(1, 2)]
    count, size, flat = d.int(1, 4), d.int(1, 6), d.flip()
    how = {"num_branches": count} if flat else {}
    return _kind(d), rows, count, size, how, (*rows, count * size) if flat else (*rows, count, size)


@row("BranchwiseRMSNorm")
def branchwise_rms_norm(d: Draw) -> Case:
    kind, _, count, size, how, shape = _streams(d)
    how |= {"epsilon": 0.1} if d.flip() else {}
    scale = d.normal(*d.one((count * size,), (count, size), (size,)), kind=d.one("f4", kind)) if d.flip(0.8) else None
    return Case("BranchwiseRMSNorm", [d.normal(*shape, kind=kind), scale], how)


@row("HyperConnectionPreMix")
def pre_mix(d: Draw) -> Case:
    kind, rows, count, size, how, shape = _streams(d)
    how |= {"reduction_scale": 0.5} if d.flip() else {}
    flat = [(count * size,)] if "num_branches" in how else []
    gates = d.one((count,), (count, 1), (count, size), *flat)
    return Case(
        "HyperConnectionPreMix", [d.normal(*shape, kind=kind), d.normal(*rows, *gates, kind=d.one("f4", kind))], how
    )


@row("HyperConnectionPostMix")
def post_mix(d: Draw) -> Case:
    kind, rows, count, size, how, shape = _streams(d)
    mixes = d.one("f4", kind)
    inputs: list[Data | None] = [d.normal(*shape, kind=kind), d.normal(*rows, size, kind=kind)]
    inputs.append(d.normal(*rows, *d.one((count,), (count, 1), (count, size)), kind=mixes))
    inputs.append(d.normal(*rows, count, count, kind=mixes) if d.flip(0.7) else None)
    return Case("HyperConnectionPostMix", inputs, how)


@row("EngramGate")
def engram_gate(d: Draw) -> Case:
    kind, rows, count, size = d.one("f4", "f2"), (d.open("batch", 1, 3), d.open("rows", 1, 4)), d.int(1, 3), d.int(1, 9)
    both = d.flip()
    inputs = [d.normal(*rows, count, size, kind=kind) for _ in "kq"] + [d.normal(*rows, size, kind=kind)]
    inputs += [d.normal(count, size, kind=kind) for _ in range(2 + both)]
    return Case("EngramGate", inputs, {"epsilon": 0.1} if d.flip() else {}, (True, True) if both else (True,))
