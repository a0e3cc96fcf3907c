"""com.microsoft: NGramHashMapping, VarlenNGramHashMapping."""

from __future__ import annotations

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.strings.engrams import Grams, Packed, Rows, engram_hashes
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

MOST = 64  # tokens of an n-gram


@onnx_op("NGramHashMapping", domain=DOMAIN)
def n_gram_hash_mapping(node: Node) -> tuple[Tensor, Tensor]:
    """(hashes [batch, length, heads] of the n-grams that end at each token; the last tokens, for the next call)."""
    node.only("max_ngram_size", "n_head_per_ngram", "pad_id", "reset_on_eos")
    ids, n, build = node[0], _greatest(node), node.build
    fill, end = _fill(node, node.get(5))
    past = build.broadcast(fill, (ids.shape[0], n - 1)) if node.get(3) is None else node[3]
    grams = Grams(Rows(), ids, fill, past, node.get(6), None, end)
    whole = build.concat([past, ids], 1)
    last = build.slice(whole, [0, ids.shape[1]], [ids.shape[0], n - 1])
    return engram_hashes(build, grams, node[1], _sizes(node, n), node.get(4), n, _heads(node)), last


@onnx_op("VarlenNGramHashMapping", domain=DOMAIN)
def varlen_n_gram_hash_mapping(node: Node) -> tuple[Tensor, ...]:
    """(hashes [tokens, heads] of packed requests; their last tokens; the segments of these; states after each token).

    The latter are of as many tokens of a request as ``capture_count`` says.
    """
    node.only("max_ngram_size", "n_head_per_ngram", "pad_id", "reset_on_eos", "state_update_capacity")
    ids, build, n, layout = node[0], node.build, _greatest(node), Packed(node.build.cast(node[3], "i64"))
    fill, end = _fill(node, node.get(6))
    grams = Grams(layout, ids, fill, node.get(4), node.get(7), node.get(8), end)
    hashes = engram_hashes(build, grams, node[1], _sizes(node, n), node.get(5), n, _heads(node))
    before = fill if node.get(4) is None else node[4]
    results = [hashes, layout.state(build, ids, before, n)]
    segments = build.broadcast(build.constant(0, "i32"), ids.shape) if node.get(7) is None else node[7]
    requests = layout.starts.shape[0] - 1
    first = build.compute("x0[x1[i0]]", [segments, layout.starts], (requests, n - 1))  # before a request, its own
    results.append(layout.state(build, segments, first if node.get(8) is None else node[8], n))
    capacity = node.attr("state_update_capacity", 0)
    if capacity and not node.has(9):
        raise NotSupported("input 9, capture_count, is missing, which attribute 'state_update_capacity' wants")
    counts = build.cast(node[9], "i64") if capacity else build.broadcast(build.constant(0, "i64"), (requests,))
    results.append(layout.state(build, ids, before, n, (counts, capacity, node.attr("pad_id"))))
    return tuple(results)


def _fill(node: Node, end: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """What is where no token is; and the token that ends an n-gram, if one does."""
    fill = node.build.constant(node.attr("pad_id"), node[0].element) if end is None else node.build.reshape(end, ())
    return fill, fill if end is not None and node.attr("reset_on_eos", 0) else None


def _greatest(node: Node) -> int:
    n: int = node.attr("max_ngram_size")
    if not 2 <= n <= MOST or node.attr("n_head_per_ngram") < 1:
        raise NotSupported(f"n-grams of up to {n} tokens, {node.attr('n_head_per_ngram')} heads; 2 to {MOST}, and one")
    return n


def _heads(node: Node) -> int:
    """Hashes of each length of n-grams."""
    heads: int = node.attr("n_head_per_ngram")
    return heads


def _sizes(node: Node, n: int) -> Tensor:
    """The number of hashes of each head.

    Raises:
        NotSupported: one that is known is below 1, or there are others than heads.
    """
    sizes, heads = node[2], (n - 1) * node.attr("n_head_per_ngram")
    if sizes.shape != (heads,) or (sizes.known is not None and (np.asarray(sizes.known) < 1).any()):
        raise NotSupported(f"input 2, sizes {sizes} of {heads} heads; each has one, of at least 1")
    return sizes
