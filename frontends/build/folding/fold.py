"""Constant folding of shape computations: arithmetic on values known at import, which may hold symbolic dimensions.

A known value is a NumPy array, of its own dtype where it is concrete, of dtype object (int | Dim) where a symbolic
dimension takes part. Symbolic dimensions are at least 1, which decides most comparisons.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import Dim, DimLike, floordiv, product
from mlc.dialects.semantics.evaluate import evaluate_expr
from mlc.dialects.semantics.expr import CASTS, Call, Const, Expr, Index, Load, walk
from mlc.dialects.semantics.statement import MONOIDS
from mlc.dialects.types import numpy_dtype
from mlc.frontends.build.folding.comparisons import at_least, larger, smaller, surely
from mlc.frontends.build.folding.prove import always_zero, never_zero
from mlc.frontends.build.folding.ratios import FLOATS, Inexact, Ratio, ratio_function

Array = np.ndarray[Any, Any]
KNOWN_LIMIT = 1024  # elements; larger values are data, not shapes, and stay in the weight store


_trace: ContextVar[Any] = ContextVar("trace", default=None)


@contextmanager
def tracing(trace: Any) -> Iterator[None]:
    """A context in which ``trace`` computes the traces of tensors, with functions of its own (``predicates.Trace``)."""
    token = _trace.set(trace)
    try:
        yield
    finally:
        _trace.reset(token)


def current_trace() -> Any:
    return _trace.get()


class Undecided(Exception):
    """A value depends on symbols in a way that dimensions cannot express; it is computed at run time instead."""


def divisors(value: DimLike) -> Iterator[Dim]:
    """The symbolic divisors in a dimension."""
    for monomial, _ in value.terms if isinstance(value, Dim) else ():
        for atom in monomial:
            if not isinstance(atom, str):
                yield from (atom[2],) if atom[0] == "//" and isinstance(atom[2], Dim) else ()
                yield from (found for side in atom[1:] for found in divisors(side))


def _ge(lhs: DimLike, rhs: DimLike) -> bool:
    if surely(lhs, rhs):
        return True
    if surely(rhs, lhs + 1):
        return False
    raise Undecided


def _equal(lhs: DimLike, rhs: DimLike) -> bool:
    difference = lhs - rhs
    if always_zero(difference):
        return True
    if not never_zero(difference):
        raise Undecided
    for side in (difference, -difference):
        surely(side, 1)  # a guard, where only inputs with elements have it so
    return False


def _divide(lhs: DimLike, rhs: DimLike) -> DimLike:
    if not at_least(rhs, 1) or not at_least(lhs, 0):
        raise Undecided  # truncation and floor differ
    return floordiv(lhs, rhs)


def _mod(lhs: DimLike, rhs: DimLike) -> DimLike:
    return lhs - _divide(lhs, rhs) * rhs


def _abs(value: DimLike) -> DimLike:
    return value if _ge(value, 0) else -value


SCALARS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divide,
    "floordiv": _divide,
    "mod": _mod,
    "fmod": _mod,
    "max": larger,
    "min": smaller,
    "neg": lambda a: -a,
    "abs": _abs,
    "eq": _equal,
    "ne": lambda a, b: not _equal(a, b),
    "ge": _ge,
    "gt": lambda a, b: _ge(a, b + 1),
    "le": lambda a, b: _ge(b, a),
    "lt": lambda a, b: _ge(b, a + 1),
    "where": lambda c, a, b: a if c else b,
}


def normal(value: Any, element: str) -> Array:
    """A known value in its canonical form: of the element's own dtype where no symbol is left."""
    array = np.asarray(value)
    if array.dtype == object and not all(isinstance(v, int | float | np.generic) for v in array.flat):
        return array
    return array.astype(numpy_dtype(element))


def symbolic(arrays: Sequence[Array]) -> bool:
    return any(a.dtype == object for a in arrays)


def fold_expr(expr: Expr, arrays: Sequence[Array], element: str, ratios: bool = False) -> Array:
    """Value of an elementwise expression of known arrays; with ``ratios`` floats of dimensions are fractions of these.

    Raises:
        Undecided: a function has no meaning on symbols, or its result depends on their values; or the expression
            names one.
    """
    if any(isinstance(part, Index) for part in walk(expr)):
        raise Undecided
    with np.errstate(all="ignore"):
        value = _symbolic_expr(expr, arrays, ratios) if symbolic(arrays) else evaluate_expr(expr, arrays, {})
        return normal(np.broadcast_to(value, np.broadcast_shapes(*(a.shape for a in arrays))), element)


def _symbolic_expr(expr: Expr, arrays: Sequence[Array], ratios: bool) -> Any:
    match expr:
        case Const(value=value):
            return value
        case Load(operand=n):
            return arrays[n]
        case Call(fn=fn, args=args):
            return _apply(fn, [np.asarray(_symbolic_expr(a, arrays, ratios)) for a in args], ratios)
    raise Undecided


def _apply(fn: str, args: list[Array], ratios: bool = False) -> Any:
    if not symbolic(args):
        return evaluate_expr(Call(fn, tuple(Load(n) for n in range(len(args)))), args, {})
    if ratios and (fn in FLOATS or any(isinstance(v, Ratio) for a in args for v in a.flat)):
        try:
            return np.frompyfunc(lambda *values: ratio_function(fn, list(values)), len(args), 1)(*args)
        except Inexact as e:
            raise Undecided from e
    if (trace := current_trace()) is not None:
        return trace.apply(fn, args)
    if fn in CASTS:
        if fn not in ("i32", "i64", "ui32", "ui64"):
            raise Undecided
        return args[0]
    if fn not in SCALARS:
        raise Undecided
    return np.frompyfunc(_on_ints(SCALARS[fn]), len(args), 1)(*args)


def _on_ints(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: fn(*(a if isinstance(a, Dim) else a.item() if isinstance(a, np.generic) else a for a in args))


def fold_reduce(fn: str, array: Array, axes: Sequence[int], keepdims: bool, element: str) -> Array:
    """A reduction of a known array by a monoid."""
    monoid = MONOIDS[fn]
    array = array if array.size else array.astype(numpy_dtype(element))  # no elements, so none are symbols
    if not symbolic([array]):
        identity = monoid.identity(array.dtype)
        reduced = monoid.numpy.reduce(array, axis=tuple(axes), keepdims=keepdims, initial=identity)
        return normal(reduced, element)
    if fn not in SCALARS:
        raise Undecided
    step = _on_ints(SCALARS[fn])
    rest = [n for n in range(array.ndim) if n not in axes]
    moved = np.transpose(array, (*rest, *axes)).reshape(*(array.shape[n] for n in rest), -1)
    out = np.empty(moved.shape[:-1], dtype=object)
    for at in np.ndindex(out.shape):
        out[at] = functools.reduce(step, moved[at].tolist())
    shape = [1 if n in axes else d for n, d in enumerate(array.shape)] if keepdims else out.shape
    return normal(out.reshape(shape), element)


def is_small(dims: Sequence[DimLike]) -> bool:
    """Whether a tensor of these dimensions may be computed at once."""
    return all(isinstance(d, int) for d in dims) and product(dims) <= KNOWN_LIMIT  # type: ignore[operator]
