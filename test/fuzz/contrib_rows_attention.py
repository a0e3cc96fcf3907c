"""Cases of attention with projections and masks: Attention, QAttention, MultiHeadAttention."""

from __future__ import annotations

from typing import Any

import numpy as np
from contrib import Case, Data, Draw, row


def _how(d: Draw, heads: int) -> dict[str, Any]:
    how: dict[str, Any] = {"num_heads": heads}
    how |= {"unidirectional": d.int(0, 1)} if d.flip(0.6) else {}
    how |= {"scale": d.one(0.3, 1.5)} if d.flip(0.3) else {}
    return how | ({"mask_filter_value": -5.0} if d.flip(0.2) else {})


def _mask(d: Draw, batch: int, rows: int, total: int, *forms: int) -> Data | None:
    """Of every form, or of these ones; the first key of each row counts."""
    kind = d.one(*(forms or range(7)))
    if kind == 0:
        return d.integers(1, total + 1, batch)
    if kind == 1 and not hasattr(batch, "name"):
        mask = d.integers(0, 1, 2 * batch)
        mask.array[:batch] = d.numbers.integers(1, total + 1, batch)
        return mask
    if kind in (2, 3):
        shape = (batch, total) if kind == 2 else (batch, rows, total)
        mask = d.integers(0, 2, *shape)
        mask.array[..., 0] = 1
        return mask
    return d.integers(0, 2, d.one(batch, 1), 1) if kind == 4 else None


@row("Attention")
def attention(d: Draw) -> Case:
    batch, rows, heads, inner = d.open("batch", 1, 3), d.open("rows", 1, 5), d.int(1, 3), d.int(1, 9)
    size, other = d.int(1, 6), d.int(1, 6)
    past = d.open("past", 1, 4) if d.flip(0.4) else 0
    other = size if past or d.flip() else other
    total, width = past + rows, heads * (2 * size + other)
    how = _how(d, heads) | ({"qkv_hidden_sizes": [heads * n for n in (size, size, other)]} if other != size else {})
    inputs = [d.normal(batch, rows, inner), d.normal(inner, width, constant=d.flip(0.8)), d.normal(width)]
    inputs += [_mask(d, batch, rows, total), d.normal(2, batch, heads, past, size) if past else None]
    if not past and d.flip(0.3):
        inputs.append(d.normal(d.one(batch, 1), d.one(heads, 1), rows, total))
    return Case("Attention", inputs, how, (True, bool(past) or d.flip(0.3)) if size == other else (True,))


@row("QAttention")
def quantized_attention(d: Draw) -> Case:
    batch, rows, heads, inner = d.open("batch", 1, 3), d.open("rows", 1, 5), d.int(1, 3), d.int(1, 9)
    size, kind = d.int(1, 6), d.one("u1", "i1")
    past, width = d.open("past", 1, 4) if d.flip(0.4) else 0, 3 * heads * size
    columns = (width,) if d.flip() else d.one((), (1,))
    inputs = [d.bytes(batch, rows, inner), d.bytes(inner, width, kind=kind, constant=d.flip(0.8)), d.normal(width)]
    inputs += [d.given(0.01, "f4"), d.uniform(0.005, 0.02, *columns, constant=True)]
    inputs += [_mask(d, batch, rows, past + rows), d.given(d.int(100, 140), "u1") if d.flip(0.7) else None]
    span = (-9, 9) if kind == "i1" else (120, 137)
    inputs.append(d.integers(*span, *columns, kind=kind, constant=True) if d.flip(0.7) else None)
    inputs.append(d.normal(2, batch, heads, past, size) if past else None)
    return Case("QAttention", inputs, _how(d, heads), (True, bool(past) or d.flip(0.3)), rtol=1e-4)


@row("MultiHeadAttention")
def multi_head_attention(d: Draw) -> Case:
    """Keys and values as rows or heads, a past, a bias of the scores; onnxruntime has no packed ones on CPUs."""
    batch, rows, heads, size = d.open("batch", 1, 3), d.open("rows", 1, 5), d.int(1, 3), d.int(1, 6)
    flat, how, other = d.flip(0.7), _how(d, heads), d.int(1, 6)
    keys = rows if d.flip() or how.get("unidirectional") else d.open("keys", 1, 5)
    past = d.open("past", 1, 4) if flat and d.flip(0.3) else 0
    other, total = other if flat and not past else size, past + keys
    if flat:
        inputs: list[Data | None] = [d.normal(batch, keys, heads * n) for n in (size, other)]
        inputs.append(d.normal(heads * (2 * size + other)) if d.flip() else None)
    else:
        inputs = [*(d.normal(batch, heads, keys, size) for _ in "kv"), None]
    inputs = [d.normal(batch, rows, heads * size), *inputs]
    inputs.append(_mask(d, batch, rows, total, 0, 2, 3, 5))
    inputs.append(d.normal(d.one(batch, 1), d.one(heads, 1), rows, total) if d.flip(0.3) else None)
    inputs += [d.normal(batch, heads, past, size) if past else None for _ in "kv"]
    present = flat and (bool(past) or d.flip(0.3))
    return Case("MultiHeadAttention", inputs, how, (True, present, present))


@row("MultiHeadAttention, shared past")
def multi_head_attention_shared(d: Draw) -> Case:
    """A past of more rows than count, and beams that read each other's rows."""
    beams, groups, heads, size = d.int(1, 3), d.int(1, 2), d.int(1, 3), 4 * d.int(1, 3)
    batch, most, past = beams * groups, d.int(5, 8), d.int(1, 4)
    inputs: list[Data | None] = [d.normal(batch, 1, heads * size) for _ in "qkv"]
    inputs += [d.normal(3 * heads * size) if d.flip() else None]
    indirect = d.flip()
    bias = not indirect and d.flip()
    inputs += [_mask(d, batch, 1, past + 1, 2, 5), d.normal(d.one(batch, 1), heads, 1, past + 1) if bias else None]
    inputs += [d.normal(batch, heads, most, size) for _ in "kv"]
    inputs += [d.given([past], "i4"), d.integers(0, beams, groups, beams, most) if indirect else None]
    return Case("MultiHeadAttention", inputs, {"num_heads": heads}, (True, True, True))


@row("DecoderMaskedMultiHeadAttention")
def decoder_masked_attention(d: Draw) -> Case:
    """One query, with keys of another sequence, or with its own past."""
    batch, heads, size = d.int(1, 3), d.int(1, 3), 4 * d.int(1, 3)
    width, how = heads * size, {"num_heads": heads, **({"scale": 0.4} if d.flip(0.3) else {})}
    how |= {"mask_filter_value": -5.0} if d.flip(0.2) else {}
    if d.flip():
        keys = d.open("keys", 1, 6)
        inputs: list[Data | None] = [d.normal(batch, 1, width)]
        inputs += [d.normal(batch, heads, keys, size) for _ in "kv"] + [_mask(d, batch, 1, keys, 2, 5)]
        return Case("DecoderMaskedMultiHeadAttention", inputs, how)
    most, past = d.int(5, 8), d.int(1, 4)
    inputs = [d.normal(batch, 1, width) for _ in "qkv"]
    inputs += [_mask(d, batch, 1, past + 1, 2, 5), d.normal(1, heads, 1, past + 1) if d.flip(0.3) else None]
    inputs += [d.normal(batch, heads, most, size) for _ in "kv"] + [d.given([past], "i4"), None, None]
    inputs.append(d.normal(3 * width) if d.flip() else None)
    how |= {"past_present_share_buffer": 1}
    return Case("DecoderMaskedMultiHeadAttention", inputs, how, (True, True, True), shared={1: 5, 2: 6})


@row("SparseAttention")
def sparse_attention(d: Draw) -> Case:
    """The first rows of a sequence, or rows after others; a block of queries sees itself, and some before it."""
    batch, shared, each, layouts = d.int(1, 3), d.int(1, 2), d.int(1, 2), d.int(1, 2)
    heads, block, blocks, turned = shared * each, 16, d.int(2, 4), d.flip(0.4)
    size = 16 if turned else 8 * d.int(1, 2)
    heads, layouts = (heads, layouts) if heads % layouts == 0 else (heads, 1)
    most, kind = blocks * block, d.one("f4", "f4", "f2")
    prompt = d.flip()
    rows = d.int(1 + turned, most) if prompt else d.one(1, 1, 2, 3)
    lengths = np.full(batch, rows if prompt else d.int(rows, most))
    seen = d.weights.random((layouts, blocks, blocks)) < 0.5
    seen |= np.eye(blocks, dtype=bool)
    seen &= np.tri(blocks, dtype=bool)
    counts = seen.sum(2)
    starts = np.concatenate([np.zeros((layouts, 1), int), counts.cumsum(1)], 1)
    columns = np.full((layouts, counts.sum(1).max()), -1)
    for n, layout in enumerate(seen):
        columns[n, : layout.sum()] = np.nonzero(layout)[1]
    parts = (heads, shared, shared)
    if d.flip():
        inputs: list[Data | None] = [d.normal(batch, rows, sum(parts) * size, kind=kind), None, None]
    else:
        inputs = [d.normal(batch, rows, n * size, kind=kind) for n in parts]
    inputs += [d.normal(batch, shared, most, size, kind=kind) for _ in "kv"]
    inputs += [d.given(starts, "i4"), d.given(columns, "i4"), d.given([lengths.max()], "i4", constant=d.flip())]
    inputs.append(d.data(lengths.astype("i4"), (batch,)))
    how: dict[str, Any] = {"num_heads": heads, "kv_num_heads": shared, "sparse_block_size": block}
    how |= {"scale": 0.4} if d.flip(0.3) else {}
    if turned:
        inputs += [d.normal(most, size // 2, kind=kind, constant=True) for _ in "cs"]
        how |= {"do_rotary": 1, "rotary_interleaved": d.int(0, 1)}
    return Case("SparseAttention", inputs, how, (True, True, True), shared={1: 3, 2: 4})
