"""Maps, which are a tensor of keys and one of values: ZipMap, DictVectorizer, CastMap."""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import TEXT
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN
from mlc.frontends.onnx.ops.ml.categories import labels_of
from mlc.frontends.onnx.ops.order import order
from mlc.frontends.onnx.ops.text import from_text, to_text
from mlc.frontends.onnx.tensors import Maps, Tensor

CASTS = {"TO_FLOAT": "f32", "TO_INT64": "i64", "TO_STRING": TEXT}


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
    """[1, vocabulary]: what the map has for each word or number of the vocabulary, 0 or "" where that is no key.

    A key that is not in the vocabulary changes nothing (ai.onnx.ml DictVectorizer 1).
    """
    given, words = node.map(0), labels_of(node, "int64_vocabulary", "string_vocabulary")
    if given.keys.element != words.element:
        raise NotSupported(f"keys of {given.keys} for a vocabulary of {words}")
    return _placed(node.build, given, words)


def _placed(build: Builder, given: Maps, places: Tensor) -> Tensor:
    """[1, places]: the value of the key that equals each place, or 0, which is the number of the empty text too."""
    none = build.words([""]) if given.values.element == TEXT else build.constant([0], given.values.element)
    (count,), (wide,) = given.keys.shape, places.shape
    at = build.compute(f"where(x0[r0] == x1[i0], r0, {count})", [given.keys, places], (wide,), (count,), "min")
    values = build.concat([build.reshape(given.values, (count,)), none], 0)
    return build.compute("x0[x1[i1]]", [values, at], (1, wide))


@onnx_op("CastMap", domain=DOMAIN)
def cast_map(node: Node) -> Tensor:
    """[1, keys] the values in the order of their keys (DENSE), or [1, max_map] each at its key (SPARSE), cast.

    Where there is no key stands 0 or "", and a key that is no place is left out (ai.onnx.ml CastMap 1).
    """
    given, build, form, to = node.map(0), node.build, node.attr("map_form", "DENSE"), node.attr("cast_to", "TO_FLOAT")
    if form not in ("DENSE", "SPARSE") or to not in CASTS or given.keys.element != "i64":
        raise NotSupported(f"map_form '{form}', cast_to '{to}' and keys of {given.keys}; keys are int64")
    values = _cast(build, given.values, CASTS[to])
    if form == "SPARSE":
        places = build.constant(np.arange(node.attr("max_map", 1)), "i64")
        return _placed(build, Maps(given.keys, values), places)
    (count,) = given.keys.shape
    places = build.reshape(order(build, build.reshape(given.keys, (1, count, 1)), count), (count,))
    return build.compute("x0[i0, x1[i1]]", [values, places], (1, count))


def _cast(build: Builder, x: Tensor, element: str) -> Tensor:
    if x.element == TEXT:
        return from_text(build, x, element)
    return to_text(build, x) if element == TEXT else build.cast(x, element)
