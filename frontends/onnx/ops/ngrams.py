"""TfIdfVectorizer: n-grams of whole numbers or texts, each place compared with every n-gram of the pool."""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import TEXT
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import Array
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.tensors import Tensor

EXPRESSIONS = {"TF": "x0", "IDF": "where(x0 > 0, x1, 0)", "TFIDF": "x0 * x1"}


@onnx_op("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(node: Node) -> Tensor:
    """[(N,) max(ngram_indexes) + 1] in f32: how often each n-gram occurs, or what that weighs."""
    x, build, mode = node[0], node.build, node.attr("mode")
    if ("pool_strings" in node.attributes) != (x.element == TEXT) or mode not in EXPRESSIONS or x.rank not in (1, 2):
        raise NotSupported(f"mode '{mode}' of {x}; [C] or [N, C] of what the pool has, and mode TF, IDF or TFIDF")
    rows = build.reshape(x, (1, *x.shape)) if x.rank == 1 else x
    pools = _pools(node)
    wide = rows if x.element == TEXT else build.cast(rows, "i64")
    counts = [_counted(node, wide, pool) for pool in pools if len(pool)]
    places = node.attr("ngram_indexes")
    width, total = max(places) + 1, build.concat(counts, 1)
    weights = node.attr("weights", None) or [1.0] * len(places)
    weighed = build.map(EXPRESSIONS[mode], *([total] if mode == "TF" else [total, build.constant(weights, "f32")]))
    spread = np.zeros((len(places), width), np.float32)
    spread[np.arange(len(places)), places] = 1
    y = build.contract("ng,gw->nw", weighed, Tensor.from_known(spread))
    return build.reshape(y, (width,)) if x.rank == 1 else y


def _pools(node: Node) -> list[Array]:
    """For n = 1, 2, …: the n-grams of that length, [grams, n]."""
    texts, starts = node.attr("pool_strings", None), node.attr("ngram_counts")
    pool = node.build.texts.numbers(texts) if texts else np.asarray(node.attr("pool_int64s"), np.int64)
    ends = [*starts[1:], len(pool)]
    return [pool[a:b].reshape(-1, n) for n, (a, b) in enumerate(zip(starts, ends, strict=True), 1)]


def _counted(node: Node, x: Tensor, pool: Array) -> Tensor:
    """[N, grams]: over all places and distances up to max_skip_count + 1, where elements equal those of the gram."""
    grams, n = pool.shape
    if not node.attr("min_gram_length") <= n <= node.attr("max_gram_length"):
        return node.build.broadcast(node.build.constant(0, "f32"), (x.shape[0], grams))
    skips = node.attr("max_skip_count") + 1 if n > 1 else 1
    length = x.shape[1]
    hits = [f"(x0[i0, min(r1 + {k} * (r0 + 1), {length} - 1)] == x1[i1, {k}])" for k in range(n)]
    inside = f"(r1 + {n - 1} * (r0 + 1) < {length})"
    text, shape = f"f32({' & '.join([inside, *hits])})", (x.shape[0], grams)
    return node.build.compute(text, [x, Tensor.from_known(pool, x.element)], shape, [skips, length], "add")
