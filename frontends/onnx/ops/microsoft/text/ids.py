"""com.microsoft: NGramRepeatBlock, BifurcationDetector, MurmurHash3: of token ids."""

from __future__ import annotations

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import larger
from mlc.frontends.build.ops.indexing.scatter import scatter_at
from mlc.frontends.build.ops.strings.hashing import murmur3
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

MOST = 64  # elements of an n-gram


@onnx_op("MurmurHash3", domain=DOMAIN)
def murmur_hash_3(node: Node) -> Tensor:
    """A hash of 32 bits of each element."""
    node.only("positive", "seed")
    y = murmur3(node.build, node[0], node.attr("seed", 0) % (1 << 32))
    return y if node.attr("positive", 1) else node.build.map("i32(x0)", y)


@onnx_op("NGramRepeatBlock", domain=DOMAIN)
def n_gram_repeat_block(node: Node) -> Tensor:
    """Scores [batch, vocabulary], minus infinity where the token would complete an n-gram of ids [batch, length]."""
    node.only("ngram_size")
    ids, scores, build, n = node[0], node[1], node.build, node.attr("ngram_size")
    if n < 1 or ids.rank != 2 or scores.rank != 2:
        raise NotSupported(f"n-grams of {n} of {ids} and {scores}; 1 or more, of two matrices")
    batch, length = ids.shape
    positions = larger(length - n + 1, 0)
    if positions == 0:
        return scores
    last = f"min(max({length} - {n - 1} + r0, 0), {length} - 1)"
    differs = [build.constant(0, "i64")]
    if n > 1:
        text = f"i64(x0[i0, i1 + r0] != x0[i0, {last}])"
        differs = [build.compute(text, [ids], (batch, positions), [n - 1], "add")]
    token, vocabulary = f"x0[i0, i1 + {n - 1}]", scores.shape[1]
    same = "x1[i0, i1] == 0" if n > 1 else "x1[()] == 0"
    inside = f"({same}) & ({token} >= 0) & ({token} < {vocabulary})"
    text = f"where({inside}, i0 * {vocabulary} + {token}, -1)"
    offsets = build.compute(text, [ids, *differs], (batch, positions))
    count = build.reshape(offsets, (batch * positions,))
    never = build.broadcast(build.constant(-np.inf, scores.element), count.shape)
    return scatter_at(build, scores, count, never, 1)


@onnx_op("BifurcationDetector", domain=DOMAIN)
def bifurcation_detector(node: Node) -> tuple[Tensor, Tensor]:
    """(the tokens with those predicted, up to the first that is not the source's; where the source goes on).

    The latter is the end of the only place in the source of their last n-gram, of the greatest length that has one.
    """
    node.only("min_ngram_size", "max_ngram_size")
    source, tokens, build = node[0], node[1], node.build
    low, high = node.attr("min_ngram_size", 1), node.attr("max_ngram_size", 3)
    if not 0 < low <= high <= MOST:
        raise NotSupported(f"n-grams of {low} to {high} elements; 1 to {MOST}")
    if node.has(3):
        tokens = _merged(node, source, tokens, node[3])
    (count,), (length,) = source.shape, tokens.shape
    found, going = build.constant(-1, "i64"), build.constant(True, "i1")
    for n in range(low, high + 1):
        positions = larger(count - n + 1, 0)
        first, many = build.reshape(Tensor.of_dims([count]), ()), build.constant(0, "i64")
        if positions != 0 and (not isinstance(length, int) or length >= n):
            last = f"x1[min(max({length} - {n} + r0, 0), max({length} - 1, 0))]"
            differs = build.compute(f"i64(x0[i0 + r0] != {last})", [source, tokens], (positions,), [n], "add")
            here = f"(x0[r0] == 0) & ({length} >= {n})"
            first = build.compute(f"where({here}, r0, {count})", [differs], (), [positions], "min")
            many = build.compute(f"i64({here})", [differs], (), [positions], "add")
        hit = build.map("(x0 > 0) & x1", many, going)
        end = build.map(f"x0 + {n}", first)
        single = build.map(f"where((x1 == 1) | (x0 >= {count}), x0, -1)", end, many)
        found = build.map("where(x0, x1, x2)", hit, single, found)
        going = build.map(f"x0 & (x1 < {count})", hit, end)
    return tokens, build.reshape(found, node[2].shape)


def _merged(node: Node, source: Tensor, tokens: Tensor, predicted: Tensor) -> Tensor:
    """The tokens, and the predicted ones up to the first that differs from the source's after ``input 2``."""
    build, (count,) = node.build, predicted.shape
    before = node.runtime_scalar(2)
    size = source.shape[0]
    node.check(f"min({before}, ({size}) - ({before}))", f"the suffix begins at no place from 0 to {size}")
    node.check(f"-abs({size} + 1 - ({before}) - ({count}))", f"{count} predicted tokens are not one more than the rest")
    same = f"x1[r0] == x0[min(max(r0 + {before}, 0), max({size} - 1, 0))]"
    text = f"where((r0 < {count} - 1) & ({same}), {count} - 1, r0)"
    first = build.compute(text, [source, predicted], (), [count], "min")
    kept = build.dim(build.scalars.of(first).item(), "the place of the first other token", count - 1)
    return build.concat([tokens, build.slice(predicted, [0], [kept + 1])], 0)
