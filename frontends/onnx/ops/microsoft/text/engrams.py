"""com.microsoft: NGramHashMapping, VarlenNGramHashMapping."""

from __future__ import annotations

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.strings.engrams import History, engram_hashes
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

MOST = 64  # tokens of an n-gram


@onnx_op("NGramHashMapping", domain=DOMAIN)
def n_gram_hash_mapping(node: Node) -> tuple[Tensor, Tensor]:
    """(hashes [batch, length, heads] of the n-grams that end at each token; the last tokens, for the next call)."""
    node.only("max_ngram_size", "n_head_per_ngram", "pad_id", "reset_on_eos")
    build, n = node.build, _greatest(node)
    ids, end = node[0], node.get(5)
    fill = build.constant(node.attr("pad_id"), ids.element) if end is None else build.reshape(end, ())
    stop = fill if end is not None and node.attr("reset_on_eos", 0) else None
    history = History(ids, fill, node.get(3), node.get(6), None, stop)
    hashes = engram_hashes(build, history, node[1], _sizes(node, n), node.get(4), n)
    whole = history.extended(build, n)
    return hashes, build.slice(whole, [0, ids.shape[1]], [ids.shape[0], n - 1])


def _greatest(node: Node) -> int:
    n: int = node.attr("max_ngram_size")
    if not 2 <= n <= MOST or node.attr("n_head_per_ngram") < 1:
        raise NotSupported(f"n-grams of up to {n} tokens, {node.attr('n_head_per_ngram')} heads; 2 to {MOST}, and one")
    return n


def _sizes(node: Node, n: int) -> Tensor:
    """The number of hashes of each head.

    Raises:
        NotSupported: one that is known is below 1, or there are others than heads.
    """
    sizes, heads = node[2], (n - 1) * node.attr("n_head_per_ngram")
    if sizes.shape != (heads,) or (sizes.known is not None and (np.asarray(sizes.known) < 1).any()):
        raise NotSupported(f"input 2, sizes {sizes} of {heads} heads; each has one, of at least 1")
    return sizes
