"""Affine index expressions as dimension expressions of iterators and symbolic dimensions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence

from mlc.dialects.semantics.dims import Dim, DimLike, dim_max, dim_min, floordiv
from mlc.dialects.semantics.expr import Call, Const, Expr, Index, walk

_DIMS: dict[str, Callable[..., DimLike]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "floordiv": floordiv,
    "mod": lambda a, b: a - floordiv(a, b) * b,
    "max": dim_max,
    "min": dim_min,
}
_AFFINE: dict[str, Callable[..., DimLike]] = {
    "add": operator.add,
    "sub": operator.sub,
    "neg": operator.neg,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
}


def affine(expr: Expr, iters: Collection[str]) -> DimLike | None:
    """Return ``expr`` as a dimension expression; None if it is not affine (a loaded index, a product of iterators)."""
    if not any(isinstance(node, Index) and node.name in iters for node in walk(expr)):
        return as_dim(expr)
    if isinstance(expr, Index):
        return Dim.symbol(expr.name)
    if not isinstance(expr, Call) or expr.fn not in _AFFINE or not _is_affine(expr.fn, expr.args):
        return None
    args = [affine(a, iters) for a in expr.args]
    return None if any(a is None for a in args) else _AFFINE[expr.fn](*args)


def _is_affine(fn: str, args: Sequence[Expr]) -> bool:
    """Return whether a function of affine arguments is affine: a factor and a divisor must be constants."""
    if fn == "mul":
        return any(isinstance(a, Const) for a in args)
    return fn not in ("floordiv", "mod") or isinstance(args[1], Const)


def as_dim(expr: Expr) -> DimLike | None:
    """Return an expression of constants and symbolic dimensions as a dimension expression; None for other
    expressions."""
    match expr:
        case Const(value=int(value)):
            return value
        case Index(name=name):
            return Dim.symbol(name)
        case Call(fn=fn, args=args) if fn in _DIMS:
            dims = [d for a in args if (d := as_dim(a)) is not None]
            return _DIMS[fn](*dims) if len(dims) == len(args) else None
    return None
