"""Parsing and printing of boxes, accesses and indices, in the common syntax of isl and Python."""

from __future__ import annotations

import ast

from mlc.dialects.semantics.dims import Atom, Dim, DimError, DimLike, atom_text, parse_dim, quotient_of
from mlc.expressions import parse_expression


def parse_box(text: str) -> tuple[tuple[str, DimLike], ...] | None:
    """Parse ``0 <= i < 4 and 0 <= j < n`` to ``(("i", 4), ("j", n))``; return None if the text is not such a box."""
    try:
        node = parse_expression(text) if text else ast.BoolOp(ast.And(), [])
        sides = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]
        return tuple(map(_extent, sides))
    except (SyntaxError, DimError):
        return None


def _extent(node: ast.expr) -> tuple[str, DimLike]:
    match node:
        case ast.Compare(ast.Constant(0), [ast.LtE(), ast.Lt()], [ast.Name(iterator), extent]):
            return iterator, parse_dim(ast.unparse(extent))
    raise DimError(f"{ast.unparse(node)} is not '0 <= iterator < extent'")


def parse_access(text: str) -> tuple[str, tuple[DimLike, ...]] | None:
    """Parse ``b0[i, 2*j]`` to ``("b0", (i, 2*j))``; return None if the text is not an access."""
    if text.endswith("[]"):
        return text.removesuffix("[]"), ()
    try:
        match parse_expression(text):
            case ast.Subscript(ast.Name(array), ast.Tuple(index)):
                return array, tuple(parse_dim(ast.unparse(i)) for i in index)
            case ast.Subscript(ast.Name(array), index):
                return array, (parse_dim(ast.unparse(index)),)
    except (SyntaxError, DimError):
        pass
    return None


def index_text(index: DimLike) -> str:
    """Return the text of ``index`` with readable quotients and remainders: ``i % 32`` for ``i-32*((i)//(32))``."""
    text = ""
    for monomial, c in _with_remainders(index):
        factors = [_factor(atom, alone=c == len(monomial) == 1) for atom in monomial]
        if abs(c) != 1 or not factors:
            factors.insert(0, str(abs(c)))
        sign = (" - " if c < 0 else " + ") if text else ("-" if c < 0 else "")
        text += sign + "*".join(factors)
    return text


def _with_remainders(index: DimLike) -> list[tuple[tuple[Atom, ...], int]]:
    """Return the terms of ``index``, with ``i - n*(i//n)`` as one term, ``("%", i, n)``."""
    if isinstance(index, int):
        return [((), index)]
    for monomial, c in index.terms:
        lhs, rhs = quotient_of(monomial) or (0, 0)
        if c == -rhs and isinstance(lhs, Dim):
            rest = [term for term in _with_remainders(index - lhs % rhs) if term != ((), 0)]
            if len(rest) < len(index.terms) - 1:
                return [*rest, ((("%", lhs, rhs),), 1)]  # type: ignore[list-item]
    return [*index.terms]


def _factor(atom: Atom, alone: bool) -> str:
    if isinstance(atom, str) or atom[0] not in ("//", "%"):
        return atom_text(atom)
    kind, *sides = atom
    lhs, rhs = (text if (text := index_text(s)).replace("_", "").isalnum() else f"({text})" for s in sides)
    return f"{lhs} {kind} {rhs}" if alone else f"({lhs} {kind} {rhs})"
