"""Affine maps of index expressions: their dimensions are iterators, their symbols are expressions of symbolic
dimensions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from xdsl.ir.affine import AffineExpr

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


class Symbols:
    """The symbols of an affine map, which are expressions of symbolic dimensions; ``names[n]`` is the text of
    symbol n."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def expr(self, dim: DimLike) -> AffineExpr:
        if isinstance(dim, int):
            return AffineExpr.constant(dim)
        text = str(dim)
        if text not in self.names:
            self.names.append(text)
        return AffineExpr.symbol(self.names.index(text))


def affine(expr: Expr, iters: Sequence[str], symbols: Symbols) -> AffineExpr | None:
    """Return ``expr`` as an affine expression; None if it is not affine (a loaded index, a product of iterators)."""
    if not any(isinstance(node, Index) and node.name in iters for node in walk(expr)):
        return _invariant(expr, symbols)
    if isinstance(expr, Index):
        return AffineExpr.dimension(iters.index(expr.name))
    if not isinstance(expr, Call) or expr.fn not in ("add", "sub", "mul", "neg", "floordiv", "mod"):
        return None
    args = [affine(a, iters, symbols) for a in expr.args]
    if any(a is None for a in args):
        return None
    return _combine(expr.fn, expr.args, args)  # type: ignore[arg-type]


def _combine(fn: str, exprs: Sequence[Expr], args: Sequence[AffineExpr]) -> AffineExpr | None:
    if fn == "neg":
        return args[0] * -1
    lhs, rhs = args
    if fn in ("add", "sub"):
        return lhs + rhs if fn == "add" else lhs + rhs * -1
    constant = [isinstance(e, Const) for e in exprs]
    if fn == "mul":
        return lhs * rhs if constant[1] else rhs * lhs if constant[0] else None
    if not constant[1]:
        return None
    return lhs // rhs if fn == "floordiv" else lhs % rhs


def _invariant(expr: Expr, symbols: Symbols) -> AffineExpr | None:
    dim = as_dim(expr)
    return None if dim is None else symbols.expr(dim)


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
