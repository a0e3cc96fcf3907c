"""Cases of mixtures of experts."""

from __future__ import annotations

import os
from typing import Any

from contrib import Case, Data, Draw, row

# onnxruntime rounds the activations, or packs the weight anew, for some forms of weights: so it does neither.
os.environ |= {"ORT_QMOE_CPU_QNBIT_GEMM": "0", "ORT_USE_MLAS_Q4_GEMM_MOE": "0"}


def _how(d: Draw, experts: int) -> tuple[dict[str, Any], int]:
    """Attributes, and how many rows FC1 has for one of FC2's columns."""
    how: dict[str, Any] = {"k": d.int(1, experts)}
    how |= {"normalize_routing_weights": 1} if d.flip() else {}
    name = d.one("relu", "gelu", "silu", "identity", "swiglu", "swiglu", "")
    how |= {"activation_type": name} if name else {}
    if name != "swiglu":
        return how, 1
    how |= {"swiglu_fusion": 1, "activation_alpha": d.one(1.0, 1.702), "activation_beta": d.one(0.0, 1.0)}
    return how | ({"swiglu_limit": 0.5} if d.flip() else {}), 2


def _tokens(d: Draw) -> tuple[tuple[int, ...], int]:
    """The shape of tokens without their size, and how many there are; one case in a few has many."""
    if d.flip():
        tokens = d.open("tokens", 1, 8)
        return (tokens,), tokens
    tokens = d.int(1, 4) if d.flip(0.7) else d.int(20, 40)
    return (1, tokens), tokens


@row("MoE")
def moe(d: Draw) -> Case:
    shape, tokens = _tokens(d)
    experts, size, inner = d.int(1, 6), d.int(1, 9), d.int(1, 9)
    how, wide = _how(d, experts)
    inputs: list[Data | None] = [d.normal(*shape, size), d.normal(tokens, experts)]
    for rows, columns in ((wide * inner, size), (size, inner)):
        inputs += [d.normal(experts, rows, columns, constant=True), d.normal(experts, rows) if d.flip() else None]
    return Case("MoE", inputs, how)


@row("QMoE")
def quantized_moe(d: Draw) -> Case:
    kind, bits, block = d.one("f4", "f4", "f2"), d.one(2, 4, 8), d.one(0, 16, 32)
    block = 16 if bits == 2 and block else block  # there others are looked up in tables of rounded sums
    shape, tokens = _tokens(d)
    experts, (size, inner) = d.int(1, 6), (d.int(1, 3) * 32 for _ in "hi")
    how, wide = _how(d, experts)
    how |= {"expert_weight_bits": bits, **({"block_size": block} if block else {})}
    how |= {"weights_prepacked": 0} if d.flip() else {}
    inputs: list[Data | None] = [d.normal(*shape, size, kind=kind), d.normal(tokens, experts, kind=kind)]
    zeros: list[Data | None] = []
    for rows, columns in ((wide * inner, size), (size, inner)):
        blocks = (columns // block,) if block else ()
        scale = d.uniform(0.01, 0.1, experts, rows, *blocks, kind=kind, constant=True)
        inputs += [d.bytes(experts, rows, columns * bits // 8, constant=True), scale]
        inputs.append(d.normal(experts, rows, kind=kind, constant=True) if d.flip() else None)
        packed = (rows, -(-blocks[0] * bits // 8)) if block else (-(-rows * bits // 8),)
        zeros.append(d.bytes(experts, *packed, constant=True) if d.flip(0.4) else None)
    inputs += [None, None, None, *zeros, None]
    inputs.append(d.uniform(0.0, 1.0, tokens, experts, kind=kind) if d.flip(0.3) else None)
    return Case("QMoE", inputs, how)


@row("MoEGroupRouter")
def moe_group_router(d: Draw) -> Case:
    groups, each, kind = d.int(1, 4), d.int(1, 5), d.one("f4", "f4", "f2")
    tokens, experts = d.open("tokens", 1, 6), groups * each
    kept = d.int(1, groups)
    how = {"n_group": groups, "topk_group": kept, "top_k": d.int(1, kept * each)}
    how |= {"group_topk": d.int(1, each)} if d.flip() else {}
    how |= {"router_sentinel": -7.0} if d.flip() else {}
    if groups > 1 or d.flip():
        shape = (tokens, experts) if d.flip() else (1, tokens, experts)
        return Case("MoEGroupRouter", [d.normal(*shape, kind=kind), d.normal(experts)], how)
    if d.flip():
        inputs = [d.normal(tokens, experts, kind=kind), d.normal(experts)]
    else:
        inputs = [d.normal(tokens, 256, kind=kind, scale=0.1), d.normal(experts)]
        inputs.append(d.normal(experts, 256, kind=kind))
    return Case("MoEGroupRouter", inputs, how, (False, True, True))


@row("MatMulNBits")
def matmul_n_bits(d: Draw) -> Case:
    kind, bits, block = d.one("f4", "f4", "f2"), d.one(2, 4, 8), d.one(16, 32, 64)
    n, k, rows = d.int(1, 20), d.int(1, 4) * 16 + d.one(0, 0, 3), d.one(1, 3, 18)
    shape = (d.open("batch", 1, 2), rows) if d.flip() else (d.open("rows", 1, 20),)
    blocks = -(-k // block)
    how: dict[str, Any] = {"K": k, "N": n, "block_size": block}
    how |= {"bits": bits} if bits != 4 or d.flip() else {}
    how |= {"accuracy_level": d.int(0, 1)} if d.flip() else {}
    inputs: list[Data | None] = [d.normal(*shape, k, kind=kind), d.bytes(n, blocks, block * bits // 8, constant=True)]
    inputs.append(d.uniform(0.01, 0.1, n * blocks, kind=kind, constant=True))
    zero = d.one("none", "packed", *["floats"] * (bits != 8))
    packed = d.bytes(n * -(-blocks * bits // 8), constant=True)
    floats = d.uniform(0, 2**bits, n, blocks, kind=kind, constant=True)
    inputs += [{"none": None, "packed": packed, "floats": floats}[zero], None]
    inputs.append(d.normal(n, kind=kind) if d.flip() else None)
    return Case("MatMulNBits", inputs, how)
