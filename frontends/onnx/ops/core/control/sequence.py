"""Sequences and optionals: lists of tensors at import, nothing at run time.

Tensors of one shape whose number is a symbol, or large, are one tensor (``Stack``), and SequenceMap is a loop. Parts of
an open extent are that tensor (``Pieces``), of which SequenceAt is a slice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv
from mlc.frontends.build.builder import MAX_ELEMENTS, Builder
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.control.unroll import UNROLLED
from mlc.frontends.build.errors import NeedsConstant, NotSupported
from mlc.frontends.build.folding.comparisons import at_least, smaller
from mlc.frontends.build.ops.indexing.gather import gather_at
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.runtime_scalars import is_runtime
from mlc.frontends.build.tensors import Appended, Pieces, Stack, Tensor
from mlc.frontends.onnx.node import Node, onnx_op


def _list(node: Node) -> list[Tensor]:
    given = node.inputs[0]
    if isinstance(given, Stack):
        return node.build.elements(given)
    if isinstance(given, Pieces):
        why = "are read one by one, counted, or joined along it"
        raise NotSupported(f"parts of a dimension of {given.extent} {why}; fix that with dims={{name: size}}")
    if isinstance(given, Appended):
        why = "only append to it, or have a known trip count of at most 2048"
        raise NotSupported(f"a sequence that a loop carries, whose length each iteration changes; the loop may {why}")
    if not isinstance(given, list):
        raise NotSupported("a sequence that is not made in the model")
    return list(given)


@onnx_op("SequenceEmpty", "SequenceConstruct", since=11)
def construct(node: Node) -> Any:
    return (node.tensors(),)


@onnx_op("SequenceAt", since=11)
def at(node: Node) -> Tensor:
    given = node.inputs[0]
    if isinstance(given, Stack):
        return gather_at(node.build, given.whole, node.build.reshape(node[1], ()), 0)
    if isinstance(given, Pieces):
        return _piece(node, given)
    return _list(node)[node.scalar(1)]


def _piece(node: Node, x: Pieces) -> Tensor:
    """One of the parts, by its number or from the last one; a guard requires that there is one."""
    (number,) = node.runtime_scalars(1)
    if is_runtime(number):
        raise NeedsConstant("the number of a part whose size is a symbol; it is computed at run time")
    if at_least(number, 0) is False:
        number = number + ceildiv(x.extent, x.size)
    start = number * x.size
    for least in (number, x.extent - start - 1):
        node.build.require(least, 0)
    return node.build.cut(x.whole, x.axis, start, smaller(x.size, x.extent - start))


@onnx_op("SequenceInsert", since=11)
def insert(node: Node) -> Any:
    given = node.inputs[0]
    if isinstance(given, Appended) and not node.has(2):
        return (Appended([*given.last, node[1]]),)
    if isinstance(given, Stack) and not node.has(2):
        return (with_rows(node.build, given, node.build.reshape(node[1], (1, *node[1].shape))),)
    values = _list(node)
    position = node.scalar(2, len(values))
    values.insert(position if position >= 0 else len(values) + position, node[1])
    return (values,)


def with_rows(build: Builder, x: Stack | list[Tensor], rows: Tensor) -> Stack:
    """A sequence with the tensors ``rows`` [count, …] after its own, which have the same shape.

    Raises:
        NotSupported: they have another.
    """
    if isinstance(x, list) and not x:
        return Stack(rows)
    whole = x.whole if isinstance(x, Stack) else build.concat([build.reshape(t, (1, *t.shape)) for t in x], 0)
    if (whole.element, whole.shape[1:]) != (rows.element, rows.shape[1:]):
        raise NotSupported(f"a sequence of {whole} to which a loop appends {rows}; give the tensors one shape")
    return Stack(build.concat([whole, rows], 0))


@onnx_op("SequenceErase", since=11)
def erase(node: Node) -> Any:
    values = _list(node)
    del values[node.scalar(1, -1)]
    return (values,)


@onnx_op("SequenceLength", since=11)
def length(node: Node) -> Tensor:
    given = node.inputs[0]
    if isinstance(given, Stack):
        return node.build.reshape(Tensor.of_dims(given.whole.shape[:1]), ())
    if isinstance(given, Pieces):
        return node.build.reshape(Tensor.of_dims([ceildiv(given.extent, given.size)]), ())
    return Tensor.from_known(np.asarray(len(_list(node)), np.int64))


@onnx_op("ConcatFromSequence", since=11)
def concat_from(node: Node) -> Tensor:
    given, build, new = node.inputs[0], node.build, node.attr("new_axis", 0)
    if isinstance(given, Stack):
        return _joined(node, given.whole)
    if isinstance(given, Pieces) and not new and normalize_axis(node.attr("axis"), given.whole.rank) == given.axis:
        return given.whole
    values = _list(node)
    axis = normalize_axis(node.attr("axis"), values[0].rank + new)
    if new:
        values = [build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])) for x in values]
    return build.concat(values, axis)


def _joined(node: Node, whole: Tensor) -> Tensor:
    """Elements [length, …] concatenated along an axis, or along a new one."""
    new = node.attr("new_axis", 0)
    axis = normalize_axis(node.attr("axis"), whole.rank - 1 + new)
    moved = node.build.transpose(whole, [*range(1, axis + 1), 0, *range(axis + 1, whole.rank)])
    if new:
        return moved
    shape = moved.shape
    return node.build.reshape(moved, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


@onnx_op("SplitToSequence", since=11)
def split_to(node: Node) -> Any:
    """Pieces of one size, of given sizes, or of one element each (then without the axis, unless keepdims)."""
    x, build = node[0], node.build
    axis = normalize_axis(node.attr("axis", 0), x.rank)
    extent, kept = x.shape[axis], node.has(1) or node.flag("keepdims", 1)
    size = None if node.has(1) and node[1].rank else node.runtime_scalar(1, 1)
    if size == 1 and (not isinstance(extent, int) or extent > UNROLLED):
        return (_single(node, x, axis, kept),)
    if size is None:
        sizes = node.dims(1, extent)
    elif is_runtime(size):
        raise NeedsConstant("the size of pieces is computed at run time")
    elif not isinstance(extent, int) or not isinstance(size, int):
        build.require(size, 1)
        return (Pieces(x, axis, size),)
    else:
        sizes = [min(size, extent - n) for n in range(0, extent, size)]
    if sizes_of(sizes):
        node.check(f"-abs({extent - sum(sizes)})", f"the pieces {sizes} are not the {extent} elements of axis {axis}")
    if len(sizes) > MAX_ELEMENTS:
        raise NotSupported(f"{len(sizes)} pieces; at most {MAX_ELEMENTS} are made")
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    pieces = [build.cut(x, axis, start, size) for start, size in zip(starts, sizes, strict=True)]
    if not kept:
        pieces = [build.reshape(p, (*p.shape[:axis], *p.shape[axis + 1 :])) for p in pieces]
    return (pieces,)


def _single(node: Node, x: Tensor, axis: int, kept: bool) -> Stack:
    """A piece for each element of an axis, with that axis or without it."""
    whole = node.build.transpose(x, [axis, *(n for n in range(x.rank) if n != axis)])
    one = [1] if kept else []
    return Stack(node.build.reshape(whole, (*whole.shape[: axis + 1], *one, *whole.shape[axis + 1 :])))


@onnx_op("SequenceMap", since=17)
def map_elements(node: Node) -> Any:
    """The body on each element of the first sequence, with the elements of other sequences at its index, and tensors as
    they are; a sequence for each result (ONNX SequenceMap 17). A loop where the first one is a ``Stack``."""
    first, *others = node.inputs
    if isinstance(first, Stack) and all(isinstance(x, Stack | Tensor) for x in others):
        made = node.attempt(lambda: _as_loop(node, first.whole.shape[0]))
        if made is not None or not isinstance(first.whole.shape[0], int):
            return made or _as_loop(node, first.whole.shape[0])
    body, results = node.attr("body"), []
    others = [node.build.elements(x) if isinstance(x, Stack) else x for x in others]
    for n, element in enumerate(_list(node)):
        rest = [other[n] if isinstance(other, list) else other for other in others]
        with node.build.iteration(n):
            results.append(node.branch(body, [element, *rest]))
    return tuple(list(each) for each in zip(*results, strict=True)) or tuple([] for _ in body.output)


def _as_loop(node: Node, count: DimLike) -> tuple[Stack, ...]:
    """Each iteration reads the elements at its index in all sequences. NotSupported: these are not of one length."""
    lengths = {x.whole.shape[0] for x in node.inputs if isinstance(x, Stack)}
    if lengths != {count}:
        raise NotSupported(f"sequences of {' and '.join(sorted(map(str, lengths)))} elements; give them one length")

    def iteration(step: Dim, _: list[Tensor]) -> Iteration:
        given = [node.build.element(x, step) if isinstance(x, Stack) else x for x in node.inputs]
        results = node.branch(node.attr("body"), given)
        return Iteration([], results, [step] * len(results))

    return tuple(Stack(x) for x in emit_loop(node.build, count, [], iteration))


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
