"""Graph operators as functions of NumPy arrays, independent of the IR they come from.

A data movement, map or reduction is one NumPy call, equal in meaning to :meth:`StructuredOp.evaluate`, which evaluates
all other operators.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from mlc.dialects.graph import (
    BitcastOp,
    BroadcastOp,
    ConcatOp,
    ContractOp,
    MapOp,
    PadOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    StructuredOp,
    TransposeOp,
    dims_of,
    ints_of,
)
from mlc.dialects.semantics.evaluate import Array, accumulator, evaluate_expr, evaluate_statement
from mlc.dialects.semantics.expr import parse
from mlc.dialects.semantics.statement import MONOIDS
from mlc.dialects.semantics.whole_arrays import closure_of
from mlc.dialects.types import element_of, numpy_dtype, shape_of

Kernel = Callable[..., Array]
LONG = 4096  # terms of a product's sum in f32, which BLAS adds in that type; longer ones are made in f64


def _static(value: SSAValue) -> tuple[int, ...]:
    return cast("tuple[int, ...]", shape_of(value))


def kernel_of(op: StructuredOp) -> Kernel:
    """Return the function that ``op`` computes, for static shapes. It may be called after ``op`` is erased.

    A data movement returns a view of its operand if NumPy does.
    """
    make: Callable[[Any], Kernel] | None = _KERNELS.get(type(op))
    return np.errstate(all="ignore")(make(op)) if make else _general(op)


def evaluator_of(op: StructuredOp) -> Kernel | None:
    """Return a function as ``kernel_of`` does, with products by BLAS; None for an operator without a function of its
    own.

    For callers that expect infinities and NaN (``np.errstate``).
    """
    if isinstance(op, ContractOp):
        return _multiplied(op)
    make = _KERNELS.get(type(op))
    return make(op) if make else None


def _general(op: StructuredOp) -> Kernel:
    statements = op.statements()
    shape, dtype = _static(op.results[0]), numpy_dtype(element_of(op.results[0]))

    def run(*arrays: Array) -> Array:
        result = np.zeros(shape, dtype)
        for s in statements:
            evaluate_statement(s, arrays, result, {})
        return result

    return run


def _contract(op: ContractOp) -> Kernel:
    """Return a function that adds term after term, each the product of two slices: its result has the same bits as the
    statement's, without arrays of indices."""
    (lhs, rhs, out), extents = op.terms, op.extents()
    shape, element = _static(op.result), element_of(op.result)
    plain = not op.layouts and not op.product and element in ("f32", "f64")
    if not plain or any(len(set(letters)) < len(letters) for letters in (lhs, rhs)):
        return _general(op)
    reduced = [c for c in extents if c not in out]
    points = [dict(zip(reduced, p, strict=True)) for p in np.ndindex(*(cast(int, extents[c]) for c in reduced))]

    def run(a: Array, b: Array) -> Array:
        total = np.zeros(shape, np.float64)  # of f32 too: see accumulator
        for at in points:
            total += _spread(a, lhs, at, out) * _spread(b, rhs, at, out)
        return total.astype(numpy_dtype(element), copy=False)

    return run


def _multiplied(op: ContractOp) -> Kernel | None:
    """Return one ``matmul``, [batch, left, summed] @ [batch, summed, right], in which BLAS chooses the order of
    summation; None if the contraction is no such product."""
    (lhs, rhs, out), extents = op.terms, cast("dict[str, int]", op.extents())
    shapes = zip((lhs, rhs), (_static(op.lhs), _static(op.rhs)), strict=True)
    stretched = any(extents[c] != n for letters, shape in shapes for c, n in zip(letters, shape, strict=True))
    plain = not op.layouts and not op.product and element_of(op.result) in ("f32", "f64", "i32", "i64")
    if not plain or stretched or any(len(set(letters)) < len(letters) for letters in (lhs, rhs)):
        return None
    batch, left, right, summed = _roles(lhs, rhs, out)
    if set(lhs + rhs) - set(batch + left + right + summed):  # summed in one operand alone
        return None
    a, b = _matrices(lhs, extents, batch, left, summed), _matrices(rhs, extents, batch, summed, right)
    made = [extents[c] for c in batch + left + right]
    perm = [(batch + left + right).index(c) for c in out]
    dtype = numpy_dtype(element_of(op.result))
    if dtype != np.float32 or math.prod(extents[c] for c in summed) <= LONG:
        return lambda x, y: np.matmul(a(x), b(y)).reshape(made).transpose(perm)
    wide = np.float64
    return lambda x, y: np.matmul(a(x), b(y), dtype=wide).reshape(made).transpose(perm).astype(dtype)


def _roles(lhs: str, rhs: str, out: str) -> tuple[str, str, str, str]:
    """Return the letters of the (batch, left, right, summed) dimensions."""
    both = [c for c in lhs if c in rhs]
    left, right = ("".join(c for c in letters if c in out and c not in both) for letters in (lhs, rhs))
    return "".join(c for c in both if c in out), left, right, "".join(c for c in both if c not in out)


def _matrices(letters: str, extents: Mapping[str, int], batch: str, rows: str, columns: str) -> Kernel:
    """Return a function that reshapes an operand to an array of matrices [batch…, rows, columns]."""
    perm = [letters.index(c) for c in batch + rows + columns]
    shape = (*(extents[c] for c in batch), *(prod(extents[c] for c in side) for side in (rows, columns)))
    return lambda x: x.transpose(perm).reshape(shape)


def _spread(x: Array, letters: str, at: Mapping[str, int], out: str) -> Array:
    """Return ``x`` at a point ``at`` of its reduced axes, with the axes ``out``; an axis that ``x`` lacks has
    extent 1."""
    part = x[tuple(min(at[c], n - 1) if c in at else slice(None) for c, n in zip(letters, x.shape, strict=True))]
    kept = [c for c in letters if c not in at]
    part = part.transpose([kept.index(c) for c in out if c in kept])
    return part[tuple(slice(None) if c in kept else None for c in out)]


def _reshape(op: ReshapeOp) -> Kernel:
    shape = _static(op.result)
    return lambda x: x.reshape(shape)


def _bitcast(op: BitcastOp) -> Kernel:
    dtype = numpy_dtype(element_of(op.result)).newbyteorder("<")
    return lambda x: np.ascontiguousarray(x).view(dtype)


def _transpose(op: TransposeOp) -> Kernel:
    perm = ints_of(op.perm)
    return lambda x: x.transpose(perm)


def _broadcast(op: BroadcastOp) -> Kernel:
    shape = _static(op.result)
    return lambda x: np.broadcast_to(x, shape)


def _slice(op: SliceOp) -> Kernel:
    parts = zip(dims_of(op.starts), dims_of(op.sizes), ints_of(op.steps), strict=True)
    at = tuple(_python_slice(start, size, step) for start, size, step in parts)
    return lambda x: x[at]


def _python_slice(start: Any, size: Any, step: int) -> slice:
    stop = start + size * step
    return slice(start, None if stop < 0 else stop, step) if size else slice(0, 0)


def _pad(op: PadOp) -> Kernel:
    shape, dtype = _static(op.result), numpy_dtype(element_of(op.result))
    fill = np.asarray(evaluate_expr(parse(op.value.data), [], {})).astype(dtype)
    inner = zip(dims_of(op.low), _static(op.input), ints_of(op.interior), strict=True)
    at = tuple(_python_slice(low, extent, between + 1) for low, extent, between in inner)

    def run(x: Array) -> Array:
        result = np.full(shape, fill, dtype)
        result[at] = x
        return result

    return run


def _concat(op: ConcatOp) -> Kernel:
    axis = op.axis.value.data
    return lambda *xs: np.concatenate(xs, axis)


def _map(op: MapOp) -> Kernel:
    value_of, shape, dtype = closure_of(op.scalar), _static(op.result), numpy_dtype(element_of(op.result))

    def run(*xs: Array) -> Array:
        value = np.asarray(value_of(xs, {}))
        value = value if value.dtype is dtype else value.astype(dtype, copy=False)
        return value if value.shape == shape else np.broadcast_to(value, shape)

    return run


def _reduce(op: ReduceOp) -> Kernel:
    monoid, axes, shape = MONOIDS[op.fn.data], ints_of(op.axes), _static(op.result)
    dtype = numpy_dtype(element_of(op.result))
    identity, wide = monoid.identity(dtype), accumulator(monoid, dtype)

    @np.errstate(all="ignore")
    def run(x: Array) -> Array:
        total = np.asarray(monoid.numpy.reduce(x, axes, initial=identity, dtype=wide))
        return total.astype(dtype, copy=False).reshape(shape)

    return run


_KERNELS: dict[type[StructuredOp], Callable[[Any], Kernel]] = {
    ContractOp: _contract,
    ReshapeOp: _reshape,
    BitcastOp: _bitcast,
    TransposeOp: _transpose,
    BroadcastOp: _broadcast,
    SliceOp: _slice,
    PadOp: _pad,
    ConcatOp: _concat,
    MapOp: _map,
    ReduceOp: _reduce,
}
