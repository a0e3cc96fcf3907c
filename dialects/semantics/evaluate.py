"""Evaluation of scalar expressions and statements in NumPy: the reference against which every lowering is tested.

Parallel iterators are evaluated as whole arrays by broadcasting, reduction iterators by a loop in order. Constant
folding uses the same code.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.dims import evaluate as evaluate_dim
from mlc.dialects.semantics.expr import CASTS, REINTERPRETATIONS, Const, Expr, Index, Load
from mlc.dialects.semantics.statement import MONOIDS, Monoid, Statement
from mlc.dialects.types import NARROW, NUMPY_NAMES, bit_width, is_narrow, numpy_dtype

Array = np.ndarray[Any, Any]
_NARROW_NAMES = frozenset(NUMPY_NAMES[e] for e in NARROW)


def _div(a: Array, b: Array) -> Array:
    if np.issubdtype(np.result_type(a, b), np.integer):  # truncates, as C and ONNX do
        below = (np.remainder(a, b) != 0) & (np.less(a, 0) != np.less(b, 0))  # where it is no whole number
        return np.asarray(np.floor_divide(a, b) + below, np.result_type(a, b))
    return np.divide(a, b)


def _float_only(fn: Any) -> Any:
    return np.vectorize(fn, otypes=[np.float64])


def _erf(x: Array) -> Array:
    return np.asarray(_float_only(math.erf)(x.astype(np.float64)), dtype=x.dtype)


def _log10(x: Array) -> Array:
    """Return the logarithm, computed in double: it is whole at powers of ten, unlike NumPy's for f32."""
    return np.asarray(np.log10(x.astype(np.float64)), dtype=x.dtype)


def _erfc(x: Array) -> Array:
    return np.asarray(_float_only(math.erfc)(x.astype(np.float64)), dtype=x.dtype)


def _sigmoid(x: Array) -> Array:
    """Return the sigmoid, computed in f32 or f64 and rounded once."""
    e = np.exp(-np.abs(x.astype(np.result_type(x.dtype, np.float32))))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e)).astype(x.dtype)


def _widened(x: Array) -> Array:
    """Return floats of 16 bits as f32, in which the steps of a function are computed."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x


def _in_float(fn: Any, a: Array, b: Array) -> Array:
    element = np.result_type(a, b)
    wide = (_widened(x) if isinstance(x, np.ndarray | np.generic) else x for x in (a, b))  # Python's numbers are weak
    return np.asarray(fn(*wide)).astype(element, copy=False)


def _power(x: Array, n: Array) -> Array:
    """Return ``x ** n``. For integers with negative ``n`` it is the quotient 1 / x⁻ⁿ rounded towards 0, and 0 for x =
    0."""
    if np.result_type(x, n).kind not in "i" or not np.any(np.less(n, 0)):
        return np.asarray(np.power(x, n))
    units = np.where(np.abs(x) == 1, np.power(x, np.abs(n) % 2), 0)
    return np.where(np.less(n, 0), units, np.power(x, np.maximum(n, 0))).astype(np.result_type(x, n))


def _dot4(a: Array, b: Array) -> Array:
    """Return the dot product of the four bytes in each i32, unsigned in ``a`` and signed in ``b``."""
    u, s = (np.ascontiguousarray(x)[..., None].view(dtype) for x, dtype in ((a, np.uint8), (b, np.int8)))
    return np.asarray(np.sum(u.astype(np.int32) * s, axis=-1, dtype=np.int32))


def _dot2x2(a: Array, b: Array) -> Array:
    """Return the dot products of the lower and of the upper two bytes in each i32 as two i16, which saturate."""
    u, s = (np.ascontiguousarray(x)[..., None].view(dtype) for x, dtype in ((a, np.uint8), (b, np.int8)))
    products = u.astype(np.int32) * s
    pairs = products[..., 0::2] + products[..., 1::2]
    return np.asarray(np.clip(pairs, -(2**15), 2**15 - 1).astype(np.int16).view(np.int32)[..., 0])


def _halves(x: Array) -> Array:
    return np.asarray(np.ascontiguousarray(x)[..., None].view(np.int16))


def _add2(a: Array, b: Array) -> Array:
    """Return the sums of the two i16 in each i32."""
    return np.asarray((_halves(a) + _halves(b)).view(np.int32)[..., 0])


def _sum2(x: Array) -> Array:
    """Return the sum of the two i16 in each i32."""
    return np.asarray(np.sum(_halves(x), axis=-1, dtype=np.int32))


def _dot2_i16(a: Array, b: Array) -> Array:
    """Return the dot product of the two i16 in each i32."""
    return np.asarray(np.sum(_halves(a).astype(np.int32) * _halves(b), axis=-1, dtype=np.int32))


def _dot2(a: Array, b: Array) -> Array:
    """Return the dot product in f32 of the two bf16 in each i32, the first one in the lower half."""
    (a0, a1), (b0, b1) = (((x << 16).view(np.float32), (x & ~0xFFFF).view(np.float32)) for x in (a, b))
    return np.asarray(a0 * b0 + a1 * b1)


def _shift(function: np.ufunc) -> Callable[[Any, Any], Any]:
    """A shift, also of uint64 by a literal: NumPy takes that as int64, and has no type for both."""

    def shift(a: Any, b: Any) -> Any:
        if np.uint64 in (getattr(a, "dtype", None), getattr(b, "dtype", None)):
            return function(np.asarray(a).astype(np.uint64), np.asarray(b).astype(np.uint64))
        return function(a, b)

    return shift


NUMPY: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _div,
    "floordiv": lambda a, b: _in_float(np.floor_divide, a, b),
    "mod": lambda a, b: _in_float(np.mod, a, b),
    "fmod": np.fmod,
    "max": np.maximum,
    "min": np.minimum,
    "pow": _power,
    "atan2": np.arctan2,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": _shift(np.left_shift),
    "shr": _shift(np.right_shift),
    "neg": np.negative,
    "not_": np.invert,
    "abs": np.abs,
    "rsqrt": lambda x: (1 / np.sqrt(_widened(x))).astype(x.dtype),
    "erf": _erf,
    "erfc": _erfc,
    "log10": _log10,
    "sigmoid": _sigmoid,
    "round": np.rint,
    "sign": lambda x: np.where(x == 0, np.zeros_like(x), np.sign(x)),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "where": np.where,
    "dot4": _dot4,
    "dot2": _dot2,
    "dot2_i16": _dot2_i16,
    "dot2x2": _dot2x2,
    "add2": _add2,
    "sum2": _sum2,
}


def evaluate_expr(expr: Expr, operands: Sequence[Array], env: Mapping[str, Any]) -> Any:
    """Return the value of an expression. ``env`` maps iterators to broadcastable integer arrays and symbols to ints.

    Untyped constants remain Python scalars, which are weak in NumPy's type promotion.
    """
    match expr:
        case Const(value=value):
            return value
        case Index(name=name):
            return np.asarray(env[name], dtype=np.int64)
        case Load(operand=n, index=None):
            return operands[n]
        case Load(operand=n, index=index):
            return operands[n][tuple(np.asarray(evaluate_expr(i, operands, env)) for i in index or ())]
    args = [evaluate_expr(a, operands, env) for a in expr.args]
    if expr.fn in CASTS:
        return cast(np.asarray(args[0]), expr.fn)
    if expr.fn in REINTERPRETATIONS:
        return reinterpret(np.asarray(args[0]), REINTERPRETATIONS[expr.fn])
    return (NUMPY.get(expr.fn) or getattr(np, expr.fn))(*args)


def cast(value: Array, element: str) -> Array:
    """Return ``value`` cast to ``element``: to narrow floats through f32 (which may round twice), to narrow integers
    from i32.

    Narrow floats round to the nearest, ties to even, and do not saturate; NaN of 4 bits is a zero (as ml_dtypes does).
    """
    if value.dtype.name in _NARROW_NAMES:
        value = value.astype(np.float32 if value.dtype.name.startswith("float") else np.int32)
    if element == "i1":
        return value != 0
    return _narrowed(value, element) if is_narrow(element) else value.astype(numpy_dtype(element))


def _narrowed(value: Array, element: str) -> Array:
    if element[0] == "f":
        return value.astype(np.float32).astype(numpy_dtype(element))
    return reinterpret(value.astype(np.int32).astype(np.uint8), element)


def reinterpret(value: Array, element: str) -> Array:
    """Return the bits of ``value`` as ``element`` of the same width; of a wider value, the lowest bits."""
    width = bit_width(element)
    bits = np.ascontiguousarray(value).reshape(value.shape)
    return (bits.view(np.uint8) & (1 << width) - 1 if width < 8 else bits).view(numpy_dtype(element))


def _extent(bound: DimLike, symbols: Mapping[str, int]) -> int:
    value = evaluate_dim(bound, symbols)
    assert isinstance(value, int), f"{bound} is not known"
    return value


@np.errstate(all="ignore")  # infinities and NaN are valid results
def evaluate_statement(
    statement: Statement, operands: Sequence[Array], result: Array, symbols: Mapping[str, int]
) -> None:
    """Execute ``statement``: write (or accumulate) into ``result`` in place."""
    extents = [_extent(b, symbols) for b in statement.bounds]
    reduce = [n for n, r in enumerate(statement.reduction) if r]
    parallel = [n for n, r in enumerate(statement.reduction) if not r]
    env: dict[str, Any] = dict(symbols)
    for axis, n in enumerate(parallel):
        env[statement.iters[n]] = np.arange(extents[n]).reshape([-1] + [1] * (len(parallel) - axis - 1))
    at = tuple(np.asarray(evaluate_expr(i, operands, env)) for i in statement.out)
    whole = np.broadcast_shapes(tuple(extents[n] for n in parallel), *(a.shape for a in at))
    combine = total = None
    if statement.monoid:
        combine = MONOIDS[statement.monoid]
        total = np.full(whole, combine.identity(result.dtype), accumulator(combine, result.dtype))
    for point in itertools.product(*(range(extents[n]) for n in reduce)):
        env.update(zip((statement.iters[n] for n in reduce), point, strict=True))
        value = np.broadcast_to(np.asarray(evaluate_expr(statement.value, operands, env)), whole)
        value = value.astype(result.dtype, copy=False)
        total = value if combine is None else combine.numpy(total, value)
    if total is not None:
        _assign(result, at, total.astype(result.dtype, copy=False))


def accumulator(monoid: Monoid, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in which terms of ``dtype`` are combined. Sums of f32 are computed in f64 and rounded once:
    compiled code sums in another order, and the reference's rounding error says nothing about it."""
    return np.dtype(np.float64) if monoid.fn == "add" and dtype == np.float32 else dtype


def _assign(result: Array, at: tuple[Array, ...], value: Array) -> None:
    if at:
        result[at] = value
    else:
        result[...] = value.reshape(result.shape)
