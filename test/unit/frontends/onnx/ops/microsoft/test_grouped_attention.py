"""Attention of grouped queries in forms that onnxruntime does not have on CPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
from single import MS, by_onnxruntime, close, single, ways

Array = np.ndarray[Any, Any]


def _normed(x: Array, weight: Array, epsilon: float) -> Array:
    """Heads of [B, S, heads * size] over their root mean square."""
    heads = x.reshape(*x.shape[:2], -1, len(weight)).astype("f8")
    y = heads / np.sqrt((heads * heads).mean(-1, keepdims=True) + epsilon) * weight
    return y.reshape(x.shape).astype("f4")


def test_normalized_queries_and_keys(rng: np.random.Generator) -> None:
    q, k, v = (rng.standard_normal((2, 3, n * 16)).astype("f4") for n in (4, 2, 2))
    weights = [rng.standard_normal(16).astype("f4") for _ in "qk"]
    caches = [rng.standard_normal((8, 8)).astype("f4") for _ in "cs"]
    rest = {"pk": None, "pv": None, "n": np.array([2, 2], "i4"), "t": np.array(3, "i4"), "c": caches[0], "s": caches[1]}
    how: dict[str, Any] = {"domain": MS, "num_heads": 4, "kv_num_heads": 2, "do_rotary": 1, "constants": ["t"]}
    names = dict.fromkeys(("i", "b", "h", "ks", "vs"))
    ours = single("GroupQueryAttention", {"q": q, "k": k, "v": v, **rest, **names, "qw": weights[0], "kw": weights[1]},
                  3, q_norm_epsilon=0.1, k_norm_epsilon=0.2, **how)  # fmt: skip
    normed = {"q": _normed(q, weights[0], 0.1), "k": _normed(k, weights[1], 0.2), "v": v}
    theirs = single("GroupQueryAttention", {**normed, **rest}, 3, **how)
    feeds = {name: x for name, x in rest.items() if x is not None and name != "t"}
    wanted = by_onnxruntime(theirs, normed | feeds)
    found = ways(ours, {"q": q, "k": k, "v": v, "qw": weights[0], "kw": weights[1], **feeds}, compiled=False)[0]
    for actual, right in zip(found.values(), wanted, strict=True):
        close(actual, right, 2e-5)
