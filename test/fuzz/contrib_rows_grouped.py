"""Cases of attention whose groups of query heads share keys and values."""

from __future__ import annotations

from typing import Any

import numpy as np
from contrib import Case, Data, Draw, row


def _lengths(d: Draw, batch: int, rows: int, past: int, form: str) -> Any:
    """How many keys each sequence has: all the new rows in a first call, else as many old ones as there may be."""
    if form == "first":
        return np.full(batch, rows)
    if form == "one" or form == "counted":
        return d.numbers.integers(rows, past + rows + 1, batch)
    return np.full(batch, past + rows)


@row("GroupQueryAttention")
def grouped(d: Draw) -> Case:
    """A first call, one step, or several rows after others; with everything that is optional."""
    form = d.one("first", "one", "several", "counted")
    kind, shared, each, size = d.one("f4", "f4", "f2"), d.int(1, 3), d.int(1, 3), 16 * d.int(1, 2)
    batch = 1 if form == "several" else d.int(1, 3)
    rows, past = {"first": (d.int(1, 5), 0), "one": (1, d.int(1, 6))}.get(form, (d.int(2, 4), d.int(1, 6)))
    buffered = form == "counted" or d.flip()
    lengths = _lengths(d, batch, rows, past, form)
    total = int(lengths.max()) if form != "several" else past + rows
    most = total + rows + d.int(0, 3) if buffered else past
    heads = shared * each
    if d.flip():
        inputs: list[Data | None] = [d.normal(batch, rows, (heads + 2 * shared) * size, kind=kind), None, None]
    else:
        inputs = [d.normal(batch, rows, n * size, kind=kind) for n in (heads, shared, shared)]
    if not buffered and form == "one":
        most, total = past, past + rows
        lengths = np.full(batch, total)
    given = most > 0 and (form != "first" or buffered)
    inputs += [d.normal(batch, shared, most, size, kind=kind) if given else None for _ in "kv"]
    inputs += [d.data((lengths - 1).astype("i4"), (batch,)), d.given(total, "i4")]
    how: dict[str, Any] = {"num_heads": heads, "kv_num_heads": shared}
    turned, causal = d.flip(), d.flip(0.85)
    inputs += [d.normal(20, size // 2, kind=kind, constant=True) if turned else None for _ in "cs"]
    how |= {"do_rotary": 1, "rotary_interleaved": d.int(0, 1)} if turned else {}
    how |= {"causal": 0} if not causal and form != "counted" else {}
    how |= {"scale": 0.4} if d.flip(0.3) else {}
    how |= {"softcap": 2.0} if d.flip(0.3) else {}
    how |= {"local_window_size": d.int(1, 5)} if d.flip(0.3) and "causal" not in how else {}
    smooth = d.flip(0.2)
    how |= {"smooth_softmax": 1} if smooth else {}
    positions = d.integers(0, 15, batch, 1, kind="i8").array + np.arange(rows)
    inputs.append(d.data(positions, (batch, rows)) if turned and d.flip() else None)
    inputs.append(d.normal(d.one(batch, 1), d.one(heads, 1), rows, total, kind=kind) if d.flip(0.3) else None)
    inputs.append(d.normal(heads, kind=kind) if d.flip(0.3) and not smooth else None)
    if form == "counted":
        inputs += [None] * 4 + [d.data(np.full(batch, rows, "i4"), (batch,))]
    shown = d.flip(0.3) and not buffered
    how |= {"qk_output": d.int(1, 2)} if shown else {}
    ignored = () if bool((lengths == total).all()) and not buffered else (1, 2)
    return Case("GroupQueryAttention", inputs, how, (True, True, True, shown), ignored=ignored)


@row("GroupQueryAttention, integers")
def grouped_integers(d: Draw) -> Case:
    """A cache of 8 or 4 bits, with a scale of the tensor or of each channel."""
    shared, each, size, bits = d.int(1, 2), d.int(1, 2), 16, d.one(8, 8, 4)
    first, heads = d.flip(), shared * each
    rows, past, batch = (d.int(1, 4), 0, d.int(1, 2)) if first else (1, d.int(1, 5), d.int(1, 2))
    total, kind = past + rows, d.one("f4", "f2")
    most = total + d.int(0, 3)
    inputs: list[Data | None] = [d.normal(batch, rows, n * size, kind=kind) for n in (heads, shared, shared)]
    stored = "i1" if bits == 8 else "u1"
    inputs += [d.bytes(batch, shared, most, size * bits // 8, kind=stored) for _ in "kv"]
    inputs += [d.given(np.full(batch, total - 1), "i4", constant=False), d.given(total, "i4"), *[None] * 5]
    high = 0.03 if bits == 8 else 0.4
    how: dict[str, Any] = {"num_heads": heads, "kv_num_heads": shared, "kv_cache_bit_width": bits}
    kinds = [d.one("PER_TENSOR", "PER_CHANNEL")] * 2
    how |= {"k_quant_type": kinds[0], "v_quant_type": kinds[1]}
    for form in kinds:
        shape = (1,) if form == "PER_TENSOR" else (1, shared, 1, size)
        inputs.append(d.uniform(high / 2, high, *shape, constant=True))
    return Case("GroupQueryAttention", inputs, how, (True, True, True), ignored=(1, 2), rtol=2e-3)
