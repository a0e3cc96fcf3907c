"""Dimensions, affine expressions, domains and accesses as isl text."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from mlc.dialects.dims import Dim, DimLike, parse_dim

_OPERATORS = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.FloorDiv: "//",
    AffineBinaryOpKind.Mod: "%",
}


class Params:
    """The isl parameters of a kernel: a symbol is its own, a product of symbols gets one (``p0``)."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}  # parameter name -> the dimension it stands for

    def text(self, dim: DimLike) -> str:
        """``dim`` as an isl expression."""
        if isinstance(dim, int):
            return str(dim)
        parts = []
        for monomial, c in dim.terms:
            factor = "" if not monomial else self._monomial(Dim(((monomial, 1),)))
            parts.append(str(c) if not monomial else factor if c == 1 else f"{c}*{factor}")
        return "(" + " + ".join(parts) + ")" if len(parts) > 1 else parts[0]

    def _monomial(self, dim: Dim) -> str:
        monomial = dim.terms[0][0]
        if len(monomial) == 1 and isinstance(monomial[0], str):
            return self._name(monomial[0], str(dim))
        if len(monomial) == 1 and monomial[0][0] == "//" and isinstance(monomial[0][2], int):
            _, lhs, rhs = monomial[0]
            return f"(({self.text(lhs)})//{rhs})"
        return self._name("", str(dim))

    def _name(self, wanted: str, text: str) -> str:
        for name, known in self.texts.items():
            if known == text:
                return name
        name = wanted or f"p{len(self.texts)}"
        self.texts[name] = text
        return name

    def prefix(self) -> str:
        return f"[{', '.join(self.texts)}] -> " if self.texts else ""


def affine_text(expr: AffineExpr, iters: Sequence[str], symbols: Sequence[str], params: Params) -> str:
    """An affine expression in the syntax that isl and Python share."""
    match expr:
        case AffineConstantExpr():
            return str(expr.value)
        case AffineDimExpr():
            return iters[expr.position]
        case AffineSymExpr():
            return params.text(parse_dim(symbols[expr.position]))
        case AffineBinaryOpExpr():
            lhs, rhs = (affine_text(e, iters, symbols, params) for e in (expr.lhs, expr.rhs))
            return f"({lhs} {_OPERATORS[expr.kind]} {rhs})"
    raise AssertionError(f"unexpected affine expression {expr}")


def domain_text(name: str, iters: Sequence[str], bounds: Sequence[DimLike], params: Params) -> str:
    conditions = " and ".join(f"0 <= {i} < {params.text(b)}" for i, b in zip(iters, bounds, strict=True))
    return f"{{ {name}[{', '.join(iters)}]{' : ' if conditions else ''}{conditions} }}"


def access_text(name: str, iters: Sequence[str], array: str, index: Sequence[str]) -> str:
    return f"{{ {name}[{', '.join(iters)}] -> {array}[{', '.join(index)}] }}"
