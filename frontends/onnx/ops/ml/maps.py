"""Maps, which are a tensor of keys and one of values: ZipMap, DictVectorizer, CastMap."""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import STRING
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.indexing.sorting import argsort
from mlc.frontends.build.ops.strings.conversion import from_string, to_string
from mlc.frontends.build.tensors import Maps, Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN
from mlc.frontends.onnx.ops.ml.categories import labels_of

CASTS = {"TO_FLOAT": "f32", "TO_INT64": "i64", "TO_STRING": STRING}


@onnx_op("ZipMap", domain=DOMAIN)
def zip_map(node: Node) -> Maps:
    """A map a row, from class labels to the row's scores: as an output the two tensors that it is made of."""
    x, labels = node[0], labels_of(node, "classlabels_int64s")
    if x.rank not in (1, 2) or x.shape[-1] != labels.shape[0]:
        raise NotSupported(f"{x} for {labels.shape[0]} labels; it takes a score a label: [N, labels]")
    rows = node.build.reshape(x, (1, *x.shape)) if x.rank == 1 else x
    return Maps(labels, node.build.cast(rows, "f32"))


@onnx_op("DictVectorizer", domain=DOMAIN)
def dict_vectorizer(node: Node) -> Tensor:
    """[1, vocabulary]: the map's value for each entry of the vocabulary, 0 or "" where that is not a key.

    A key that is not in the vocabulary changes nothing (ai.onnx.ml DictVectorizer 1).
    """
    given, words = node.map(0), labels_of(node, "int64_vocabulary", "string_vocabulary")
    if given.keys.element != words.element:
        raise NotSupported(f"keys of {given.keys} for a vocabulary of {words}")
    return _looked_up(node.build, given, words)


def _looked_up(build: Builder, given: Maps, wanted: Tensor) -> Tensor:
    """[1, wanted]: the value at each wanted key, or 0, which is the number of the empty string too."""
    none = build.strings([""]) if given.values.element == STRING else build.constant([0], given.values.element)
    (count,), (wide,) = given.keys.shape, wanted.shape
    at = build.compute(f"where(x0[r0] == x1[i0], r0, {count})", [given.keys, wanted], (wide,), (count,), "min")
    values = build.concat([build.reshape(given.values, (count,)), none], 0)
    return build.compute("x0[x1[i1]]", [values, at], (1, wide))


@onnx_op("CastMap", domain=DOMAIN)
def cast_map(node: Node) -> Tensor:
    """[1, keys] the values in the order of their keys (DENSE), or [1, max_map] each at its key (SPARSE), cast.

    0 or "" where there is no key; a key that is out of range is left out (ai.onnx.ml CastMap 1).
    """
    given, build, form, to = node.map(0), node.build, node.attr("map_form", "DENSE"), node.attr("cast_to", "TO_FLOAT")
    if form not in ("DENSE", "SPARSE") or to not in CASTS or given.keys.element != "i64":
        raise NotSupported(f"map_form '{form}', cast_to '{to}' and keys of {given.keys}; keys are int64")
    values = _cast(build, given.values, CASTS[to])
    if form == "SPARSE":
        indices = build.constant(np.arange(node.attr("max_map", 1)), "i64")
        return _looked_up(build, Maps(given.keys, values), indices)
    (count,) = given.keys.shape
    order = build.reshape(argsort(build, build.reshape(given.keys, (1, count, 1)), count), (count,))
    return build.compute("x0[i0, x1[i1]]", [values, order], (1, count))


def _cast(build: Builder, x: Tensor, element: str) -> Tensor:
    if x.element == STRING:
        return from_string(build, x, element)
    return to_string(build, x) if element == STRING else build.cast(x, element)
