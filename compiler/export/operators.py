"""Operators of the graph dialect as ONNX nodes, a function each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Operation

from mlc.dialects import graph
from mlc.dialects.graph.base import StructuredOp, dims_of, ints_of
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.types import element_of, numpy_dtype, shape_of
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.export.scalars import Scalars
from mlc.export.statements import Box, reduction
from mlc.export.writer import Writer

Rule = Callable[[Writer, Any, Sequence[str]], str]


def _map(w: Writer, op: graph.MapOp, args: Sequence[str]) -> str:
    elements = [element_of(a) for a in op.args]
    scalars = Scalars(w, elements, lambda load: args[load.operand], lambda name: w.dim(parse_dim(name)))
    return scalars.write(op.scalar, element_of(op.result))


def _contract(w: Writer, op: graph.ContractOp, args: Sequence[str]) -> str:
    left, right, out = op.terms
    element = element_of(op.result)
    a, b = args
    if op.product is not None:
        a, b = _factors(w, op, args)
    batch = out[:-2]
    plain = min(map(len, op.terms)) >= 2 and left == batch + left[-2:] and right == batch + right[-2:]
    if plain and left[-2] == out[-2] and right[-1] == out[-1] and left[-1] == right[-2] and left[-1] not in out:
        return w.emit("MatMul", a, b)
    if min(map(len, op.terms)) >= 2 and len(right) == 2 and left[:-1] == out[:-1] and right == left[-1] + out[-1]:
        return w.emit("MatMul", a, b)
    if len(left) == len(right) == len(out) == 2 and element[0] == "f" and not set(left + right) - {*out, *left}:
        turned = {"transA": int(left[0] != out[0]), "transB": int(right[1] != out[1])}
        if {*left} - {*out} == {*right} - {*out} and out[0] in left and out[1] in right:
            return w.emit("Gemm", a, b, **turned)
    letters = {c: chr(ord("a") + n) for n, c in enumerate(dict.fromkeys(left + right))}
    equation = "".join(letters.get(c, c) for c in op.equation.data)
    if element == "i1" or not element.startswith(("f", "i32", "i64")):
        raise InputError(f"export_onnx: a product of {element} has no form in ONNX")
    return w.emit("Einsum", a, b, equation=equation)


def _factors(w: Writer, op: Any, args: Sequence[str]) -> list[str]:
    """The operands of a product of casts, ``i32(x0) * i32(x1)``.

    Raises:
        InputError: another product.
    """
    from mlc.dialects.semantics.expr import Call, loads, parse

    expr = parse(op.product.data)
    if not isinstance(expr, Call) or expr.fn != "mul":
        raise InputError(f"export_onnx: {op.name} of the product {expr} has no form in ONNX")
    elements = [element_of(x) for x in op.operands]
    scalars = Scalars(w, elements, lambda load: args[load.operand], lambda name: w.dim(parse_dim(name)))
    sides = sorted(expr.args, key=lambda side: min((x.operand for x in loads(side)), default=0))
    return [scalars.write(side, element_of(op.results[0])) for side in sides]


def _conv(w: Writer, op: graph.ConvOp, args: Sequence[str]) -> str:
    strides, dilations = op.window
    if op.product is not None:
        args = _factors(w, op, args)
    kernel = [d for d in shape_of(op.weight)[2:] if isinstance(d, int)]
    options = {"kernel_shape": kernel} if len(kernel) == len(strides) else {}
    return w.emit("Conv", *args, strides=strides, dilations=dilations, group=int(op.groups.value.data), **options)


def _conv_transpose(w: Writer, op: graph.ConvTransposeOp, args: Sequence[str]) -> str:
    """ONNX's kernel has element ``s * t + q`` from tap T - 1 - t of the phase (q - low) % s. What comes before the
    first row of the result, and after the last one, is cropped."""
    strides, low = ints_of(op.strides), ints_of(op.low)
    rank, shape = len(strides), [int(d) for d in shape_of(op.weight)]  # type: ignore[arg-type]
    taps, x = shape[rank + 2 :], args[1]
    for n, (s, cut, t) in enumerate(zip(strides, low, taps, strict=True)):
        x = w.emit("Gather", x, w.ints([(q - cut) % s for q in range(s)]), axis=n)
        x = w.emit("Gather", x, w.ints(range(t)[::-1]), axis=rank + 2 + n)
    x = w.emit("Transpose", x, perm=[rank + 1, rank, *(a for n in range(rank) for a in (rank + 2 + n, n))])
    kernel = [s * t for s, t in zip(strides, taps, strict=True)]
    x = w.emit("Reshape", x, w.ints([shape[rank + 1], shape[rank], *kernel]))
    before = [s * (t - 1) + cut for s, cut, t in zip(strides, low, taps, strict=True)]
    after = [s * ((s - 1 + cut) // s + t - 1) - cut for s, cut, t in zip(strides, low, taps, strict=True)]
    return w.emit("ConvTranspose", args[0], x, strides=strides, kernel_shape=kernel, pads=[*before, *after])


def _reduce(w: Writer, op: graph.ReduceOp, args: Sequence[str]) -> str:
    if not ints_of(op.axes):
        return args[0]
    return reduction(w, op.fn.data, args[0], ints_of(op.axes), element_of(op.input), bool(op.keepdims))


def _pool(w: Writer, op: graph.PoolOp, args: Sequence[str]) -> str:
    kernel = ints_of(op.kernel)
    options = {"kernel_shape": kernel, "strides": ints_of(op.strides), "dilations": ints_of(op.dilations)}
    element = element_of(op.input)
    if len(kernel) != len(shape_of(op.input)) - 2 or op.fn.data not in ("max", "add", "min") or element[0] != "f":
        return _statement(w, op, args)
    if op.fn.data == "max":
        return w.emit("MaxPool", *args, **options)
    if op.fn.data == "min":
        return w.emit("Neg", w.emit("MaxPool", w.emit("Neg", *args), **options))
    return w.emit("Mul", w.emit("AveragePool", *args, **options), w.scalar(prod(kernel), element))


def _reshape(w: Writer, op: graph.ReshapeOp, args: Sequence[str]) -> str:
    shape = shape_of(op.result)
    unknown = [n for n, d in enumerate(shape) if not isinstance(d, int)]
    if len(unknown) == 1 and 0 not in shape:
        return w.emit("Reshape", args[0], w.ints([d if isinstance(d, int) else -1 for d in shape]))
    return w.emit("Reshape", args[0], w.dims(shape), allowzero=int(0 in shape))


def _transpose(w: Writer, op: graph.TransposeOp, args: Sequence[str]) -> str:
    return w.emit("Transpose", args[0], perm=ints_of(op.perm))


def _broadcast(w: Writer, op: graph.BroadcastOp, args: Sequence[str]) -> str:
    return w.emit("Expand", args[0], w.dims(shape_of(op.result)))


def _slice(w: Writer, op: graph.SliceOp, args: Sequence[str]) -> str:
    """Slice, with ends as ONNX defines them: exclusive, and before the first element where the step is negative."""
    starts, sizes, steps = dims_of(op.starts), dims_of(op.sizes), ints_of(op.steps)
    rows = [(n, start, size, step) for n, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True))
            if (start, size, step) != (0, shape_of(op.input)[n], 1)]  # fmt: skip
    if not rows:
        return w.emit("Identity", args[0])
    ends = [_end(start, size, step) for _, start, size, step in rows]
    axes, by = [n for n, *_ in rows], [step for *_, step in rows]
    return w.emit("Slice", args[0], w.dims([start for _, start, *_ in rows]), w.dims(ends), w.ints(axes), w.ints(by))


def _end(start: DimLike, size: DimLike, step: int) -> DimLike:
    end = start + size * step
    if step > 0:
        return end
    if isinstance(end, int):
        return end if end >= 0 else np.iinfo(np.int32).min
    return np.iinfo(np.int32).min if start - size * -step + -step == 0 or start + 1 == size * -step else end


def _pad(w: Writer, op: graph.PadOp, args: Sequence[str]) -> str:
    low, high, element = dims_of(op.low), dims_of(op.high), element_of(op.input)
    x = args[0]
    for n, between in enumerate(ints_of(op.interior)):
        if between:
            x = _spread(w, x, shape_of(op.input), n, between, w.scalar(op.number, element))
    value = [w.scalar(op.number, element)] if op.number else []
    return w.emit("Pad", x, w.dims([*low, *high]), *value, mode="constant")


def _spread(w: Writer, x: str, shape: Sequence[DimLike], axis: int, between: int, value: str) -> str:
    """A tensor with constants between neighbours along an axis: each element with constants after it, but the last."""
    rank = len(shape) + 1
    apart = w.emit("Unsqueeze", x, w.ints([axis + 1]))
    pads = [0] * (2 * rank)
    pads[rank + axis + 1] = between
    padded = w.emit("Pad", apart, w.ints(pads), value, mode="constant")
    joined = w.emit("Reshape", padded, _joined(w, padded, axis, rank))
    return w.emit("Slice", joined, w.ints([0]), w.ints([-between]), w.ints([axis]))


def _joined(w: Writer, x: str, axis: int, rank: int) -> str:
    """The shape of a tensor with two neighbouring dimensions merged."""
    shape = w.emit("Shape", x)
    parts = [w.emit("Slice", shape, w.ints([0]), w.ints([axis]))] if axis else []
    parts.append(w.ints([-1]))
    if axis + 2 < rank:
        parts.append(w.emit("Slice", shape, w.ints([axis + 2]), w.ints([rank])))
    return w.emit("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]


def _concat(w: Writer, op: graph.ConcatOp, args: Sequence[str]) -> str:
    return w.emit("Concat", *args, axis=int(op.axis.value.data))


def _argsort(w: Writer, op: graph.ArgsortOp, args: Sequence[str]) -> str:
    """ONNX's TopK is stable; what follows the first ``count`` is not specified."""
    _, _, width = shape_of(op.input)
    if width != 1:
        raise InputError("export_onnx: a sort of vectors has no form in ONNX")
    count, room = parse_dim(op.count.data), shape_of(op.result)[1]
    rows = w.emit("Squeeze", args[0], w.ints([2]))
    number = w.dims([count])
    found = w.emit_all("TopK", [rows, number], 2, axis=1, largest=int(bool(op.descending)), sorted=1)[1]
    if room == count:
        return found
    return w.emit("Pad", found, w.dims([0, 0, 0, room - count]), w.scalar(0, "i64"), mode="constant")


def _scan(w: Writer, op: graph.ScanOp, args: Sequence[str]) -> str:
    if op.monoid.data != "add":
        raise InputError("export_onnx: running products have no form in ONNX")
    flags = {"exclusive": int(bool(op.exclusive)), "reverse": int(bool(op.reverse))}
    return w.emit("CumSum", args[0], w.scalar(1, "i64"), **flags)


def _scatter(w: Writer, op: graph.ScatterOp, args: Sequence[str]) -> str:
    """Scatter rows. A row whose index is out of bounds goes to an extra row, which is cut off."""
    data, indices, updates = args
    cells = shape_of(op.data)[0]
    count = w.dim(cells)
    inside = w.emit("And", w.emit("GreaterOrEqual", indices, w.scalar(0, "i64")), w.emit("Less", indices, count))
    chosen = w.emit("Unsqueeze", w.emit("Where", inside, indices, count), w.ints([1]))
    element = element_of(op.data)
    longer = w.emit("Pad", data, w.ints([0, 0, 1, 0]), w.scalar(0, element), mode="constant")
    made = w.emit("ScatterND", longer, chosen, updates, reduction=op.reduction.data)
    return w.emit("Slice", made, w.ints([0]), w.dims([cells]), w.ints([0]))


def _statement(w: Writer, op: StructuredOp, args: Sequence[str]) -> str:
    """Any operator of one statement.

    Raises:
        InputError: it has several.
    """
    made = op.statements()
    if len(made) != 1:
        raise InputError(f"export_onnx: {op.name} has no form in ONNX")
    shapes, elements = [shape_of(x) for x in op.operands], [element_of(x) for x in op.operands]
    return Box(w, made[0], args, shapes, elements).write(element_of(op.results[0]))


RULES: dict[type[Operation], Rule] = {
    graph.MapOp: _map, graph.ContractOp: _contract, graph.ConvOp: _conv, graph.ReduceOp: _reduce,
    graph.ConvTransposeOp: _conv_transpose,
    graph.PoolOp: _pool, graph.ReshapeOp: _reshape, graph.TransposeOp: _transpose, graph.BroadcastOp: _broadcast,
    graph.SliceOp: _slice, graph.PadOp: _pad, graph.ConcatOp: _concat, graph.ArgsortOp: _argsort,
    graph.ScanOp: _scan, graph.ScatterOp: _scatter,
}  # fmt: skip


def written(w: Writer, op: Operation, weights: WeightStore) -> str:
    """The name of the result of an operator.

    Raises:
        InputError: ONNX has no form of it.
    """
    if isinstance(op, graph.WeightOp):
        name = op.entry.data
        return w.constant(weights[name].astype(numpy_dtype(element_of(op.result)), copy=False), name)
    if isinstance(op, graph.ConstantOp):
        return w.constant(op.array())
    rule = RULES.get(type(op))
    if rule is None and isinstance(op, StructuredOp):
        rule = _statement
    if rule is None:
        raise InputError(f"export_onnx: {op.name} has no form in ONNX", hint="Export a part of the network without it")
    return rule(w, op, [w.values[x] for x in op.operands])
