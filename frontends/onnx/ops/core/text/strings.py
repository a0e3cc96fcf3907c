"""StringConcat, StringSplit, StringNormalizer, RegexFullMatch, TfIdfVectorizer."""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import STRING
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.strings import operators
from mlc.frontends.build.ops.strings.ngrams import WEIGHTINGS, tf_idf
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("StringConcat", since=20)
def string_concat(node: Node) -> Tensor:
    return operators.concat_strings(node.build, node[0], node[1])


@onnx_op("StringSplit", since=20)
def string_split(node: Node) -> tuple[Tensor, Tensor]:
    return operators.split_strings(node.build, node[0], node.attr("delimiter", ""), node.attr("maxsplit", -1))


@onnx_op("StringNormalizer", since=10)
def string_normalizer(node: Node) -> Tensor:
    """``locale`` changes nothing: letters are those of Unicode everywhere."""
    stop_words, case = node.attr("stopwords", None) or [], node.attr("case_change_action", "NONE")
    exact = bool(stop_words) and node.flag("is_case_sensitive", 0)
    return operators.normalize_strings(node.build, node[0], case, stop_words, exact)


@onnx_op("RegexFullMatch", since=20)
def regex_full_match(node: Node) -> Tensor:
    return operators.full_match(node.build, node[0], node.attr("pattern"))


@onnx_op("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(node: Node) -> Tensor:
    x, build, mode = node[0], node.build, node.attr("mode")
    if ("pool_strings" in node.attributes) != (x.element == STRING) or mode not in WEIGHTINGS or x.rank not in (1, 2):
        raise NotSupported(f"mode '{mode}' of {x}; [C] or [N, C] of what the pool has, and mode TF, IDF or TFIDF")
    rows = build.reshape(x, (1, *x.shape)) if x.rank == 1 else x
    rows = rows if x.element == STRING else build.cast(rows, "i64")
    columns = node.attr("ngram_indexes")
    weights = node.attr("weights", None) or [1.0] * len(columns)
    lengths = node.attr("min_gram_length"), node.attr("max_gram_length")
    if 0 in x.shape:  # no n-gram occurs
        return build.broadcast(build.constant(0, "f32"), (*x.shape[:-1], max(columns) + 1))
    y = tf_idf(build, rows, _pools(node), lengths, node.attr("max_skip_count"), columns, weights, mode)
    return build.reshape(y, y.shape[1:]) if x.rank == 1 else y


def _pools(node: Node) -> list[Array]:
    """For n = 1, 2, …: the n-grams of that length, [grams, n]."""
    strings, starts = node.attr("pool_strings", None), node.attr("ngram_counts")
    pool = node.build.string_table.numbers(strings) if strings else np.asarray(node.attr("pool_int64s"), np.int64)
    ends = [*starts[1:], len(pool)]
    return [pool[a:b].reshape(-1, n) for n, (a, b) in enumerate(zip(starts, ends, strict=True), 1)]
