"""Statements on whole arrays: what ``evaluate_statement`` computes, with a reduction as one NumPy call.

The reference loops over reduced iterators in order, at some microseconds an iteration. Here as many of the last reduced
iterators as ``MOST_ELEMENTS`` allows are axes of an array, which NumPy reduces. Its sums are pairwise, so they may
differ from the reference's in the last bits, with a smaller error. The tree of an expression is read once, to a
closure.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.dims import evaluate as evaluate_dim
from mlc.dialects.semantics.evaluate import NUMPY, Array, cast, reinterpret
from mlc.dialects.semantics.expr import CASTS, REINTERPRETATIONS, Const, Expr, Index, Load
from mlc.dialects.semantics.statement import MONOIDS, Statement

Closure = Callable[[Sequence[Array], Mapping[str, Any]], Any]
"""A function from operands and the values of iterators and symbols to the value of an expression."""
Extents = tuple[int, ...]
MOST_ELEMENTS = 1 << 20
"""The most elements of an array over parallel and reduced iterators together."""


def closure_of(expr: Expr) -> Closure:
    """Return ``evaluate_expr`` of ``expr`` as a closure, which does not read the tree again."""
    match expr:
        case Const(value=value):
            return lambda xs, env: value
        case Index(name=name):
            return lambda xs, env: np.asarray(env[name], np.int64)
        case Load(operand=n, index=None):
            return lambda xs, env: xs[n]
        case Load(operand=n, index=index):
            return _load(n, index or ())
    return _call(expr.fn, tuple(map(closure_of, expr.args)))


def _load(n: int, index: Sequence[Expr]) -> Closure:
    at = tuple(map(closure_of, index))
    return lambda xs, env: xs[n][tuple([np.asarray(each(xs, env)) for each in at])]


def _call(fn: str, args: tuple[Closure, ...]) -> Closure:
    function = function_of(fn)
    if len(args) == 1:
        (a,) = args
        return lambda xs, env: function(a(xs, env))
    if len(args) == 2:
        a, b = args
        return lambda xs, env: function(a(xs, env), b(xs, env))
    return lambda xs, env: function(*[each(xs, env) for each in args])


def function_of(fn: str) -> Callable[..., Any]:
    """Return the NumPy function of a scalar function, a cast or a reinterpretation."""
    if fn in CASTS:
        return lambda x: cast(np.asarray(x), fn)
    if fn in REINTERPRETATIONS:
        return lambda x: reinterpret(np.asarray(x), REINTERPRETATIONS[fn])
    found: Callable[..., Any] = NUMPY.get(fn) or getattr(np, fn)
    return found


class WholeArrays:
    """A prepared statement: a call writes into ``result``."""

    def __init__(self, given: Statement) -> None:
        self.given, self.value = given, closure_of(given.value)
        self.out = [closure_of(each) for each in given.out]
        pairs = list(zip(given.iters, given.bounds, given.reduction, strict=True))
        self.parallel = [(name, bound) for name, bound, reduced in pairs if not reduced]
        self.reduced = [(name, bound) for name, bound, reduced in pairs if reduced]
        written = [str(each) for each in given.out if str(each) != "0"]
        self.in_place = written == [name for name, _ in self.parallel]

    def __call__(self, operands: Sequence[Array], result: Array, symbols: Mapping[str, int]) -> None:
        box, over = _extents(self.parallel, symbols), _extents(self.reduced, symbols)
        split = _loops(box, over)
        names = [name for name, _ in (*self.parallel, *self.reduced[split:])]
        env = dict(symbols) | _iterators(names, box + over[split:])
        values = self._values(operands, env, box, over, split, result.dtype)
        if (self.in_place and result.size == prod(box)) or not self.out:
            result[...] = values.reshape(result.shape)
            return
        at = dict(symbols) | _iterators([name for name, _ in self.parallel], box)
        result[tuple([np.asarray(each(operands, at)) for each in self.out])] = values

    def _values(
        self, operands: Sequence[Array], env: dict[str, Any], box: Extents, over: Extents, split: int, dtype: Any
    ) -> Array:
        """Return the reduced values, an array with the extents ``box``."""
        whole = box + over[split:]
        monoid = MONOIDS[self.given.monoid] if self.given.monoid else None
        total: Array | None = None
        for point in itertools.product(*map(range, over[:split])):
            env.update(zip([name for name, _ in self.reduced], point, strict=False))
            value = np.asarray(self.value(operands, env)).astype(dtype, copy=False)
            if monoid is None:
                return np.broadcast_to(value, box)
            part = _reduced(np.broadcast_to(value, whole), len(box), monoid.numpy, monoid.identity(dtype))
            total = part if total is None else monoid.numpy(total, part)
        assert monoid is not None
        return np.full(box, monoid.identity(dtype), dtype) if total is None else total


def _reduced(value: Array, kept: int, ufunc: Any, identity: Any) -> Array:
    axes = tuple(range(kept, value.ndim))
    return np.asarray(ufunc.reduce(value, axes, dtype=value.dtype, initial=identity)) if axes else value


def _extents(iterators: Sequence[tuple[str, DimLike]], symbols: Mapping[str, int]) -> Extents:
    return tuple([bound if isinstance(bound, int) else int(evaluate_dim(bound, symbols)) for _, bound in iterators])  # type: ignore[arg-type]


def _loops(box: Extents, over: Extents) -> int:
    """Return how many of the first reduced iterators are loops."""
    return next((n for n in range(len(over)) if prod(box + over[n:]) <= MOST_ELEMENTS), len(over))


def _iterators(names: Sequence[str], extents: Extents) -> dict[str, Array]:
    """Return, for each iterator, its values as an array along its axis of a common box."""
    rank = len(extents)
    return {
        name: np.arange(extent).reshape((-1,) + (1,) * (rank - n - 1))
        for n, (name, extent) in enumerate(zip(names, extents, strict=True))
    }
