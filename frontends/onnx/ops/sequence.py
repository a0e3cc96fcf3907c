"""Sequences and optionals: lists of tensors at import, nothing at run time."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.dialects.graph.sizes import sizes_of
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.tensors import Tensor


def _list(node: Node) -> list[Tensor]:
    if not isinstance(node.inputs[0], list):
        raise NotSupported("a sequence that is not made in the model")
    return list(node.inputs[0])


@onnx_op("SequenceEmpty", "SequenceConstruct", since=11)
def construct(node: Node) -> Any:
    return (node.tensors(),)


@onnx_op("SequenceAt", since=11)
def at(node: Node) -> Tensor:
    return _list(node)[node.scalar(1)]


@onnx_op("SequenceInsert", since=11)
def insert(node: Node) -> Any:
    values = _list(node)
    position = node.scalar(2, len(values))
    values.insert(position if position >= 0 else len(values) + position, node[1])
    return (values,)


@onnx_op("SequenceErase", since=11)
def erase(node: Node) -> Any:
    values = _list(node)
    del values[node.scalar(1, -1)]
    return (values,)


@onnx_op("SequenceLength", since=11)
def length(node: Node) -> Tensor:
    return Tensor.from_known(np.asarray(len(_list(node)), np.int64))


@onnx_op("ConcatFromSequence", since=11)
def concat_from(node: Node) -> Tensor:
    values, build = _list(node), node.build
    new = node.attr("new_axis", 0)
    axis = normalise_axis(node.attr("axis"), values[0].rank + new)
    if new:
        values = [build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])) for x in values]
    return build.concat(values, axis)


MAX_PIECES = 1 << 14  # each is an operator of its own


@onnx_op("SplitToSequence", since=11)
def split_to(node: Node) -> Any:
    """Pieces of one size, of given sizes, or of one element each (then without the axis, unless keepdims)."""
    x, build = node[0], node.build
    axis = normalise_axis(node.attr("axis", 0), x.rank)
    extent, whole = x.shape[axis], not node.has(1) or node[1].rank == 0
    if not whole:
        sizes = node.dims(1, extent)
    elif not isinstance(extent, int):
        raise NotSupported("pieces of a symbolic dimension; fix it with dims={name: size}")
    else:
        size = node.ints(1)[0] if node.has(1) else 1
        sizes = [min(size, extent - n) for n in range(0, extent, size)]
    if sizes_of(sizes):
        node.check(f"-abs({extent - sum(sizes)})", f"the pieces {sizes} are not the {extent} elements of axis {axis}")
    if len(sizes) > MAX_PIECES:
        raise NotSupported(f"{len(sizes)} pieces; at most {MAX_PIECES} are made")
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    pieces = [build.cut(x, axis, start, size) for start, size in zip(starts, sizes, strict=True)]
    if node.get(1) is None and not node.flag("keepdims", 1):
        pieces = [build.reshape(p, (*p.shape[:axis], *p.shape[axis + 1 :])) for p in pieces]
    return (pieces,)


@onnx_op("SequenceMap", since=17)
def map_elements(node: Node) -> Any:
    """The body on each element of the first sequence, with those of other sequences at its place, and tensors as they
    are; a sequence for each result."""
    _, *others = node.inputs
    body, results = node.attr("body"), []
    for n, element in enumerate(_list(node)):
        rest = [other[n] if isinstance(other, list) else other for other in others]
        results.append(node.branch(body, [element, *rest]))
    return tuple(list(each) for each in zip(*results, strict=True)) or tuple([] for _ in body.output)


@onnx_op("Optional", since=15)
def optional(node: Node) -> Any:
    """A value, or None: the optional without one."""
    return (node.inputs[0] if node.inputs else None,)


@onnx_op("OptionalGetElement", since=15)
def get_element(node: Node) -> Any:
    if node.inputs[0] is None:
        raise NotSupported("the element of an optional without a value")
    return (node.inputs[0],)


@onnx_op("OptionalHasElement", since=15)
def has_element(node: Node) -> Tensor:
    return Tensor.from_known(np.asarray(bool(node.inputs) and node.inputs[0] is not None))
