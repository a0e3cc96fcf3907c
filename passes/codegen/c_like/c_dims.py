"""Symbolic dimensions as C expressions over variables of the symbols' names."""

from __future__ import annotations

from mlc.dialects.semantics.dims import Atom, DimLike


def c_dim(value: DimLike) -> str:
    """``2*batch + (h+1)//2`` → ``(2 * batch + mlc_floordiv_i64(h + 1, 2))``; integers as they are."""
    if isinstance(value, int):
        return str(value)
    terms = []
    for monomial, c in value.terms:
        factors = [_atom(a) for a in monomial]
        if c != 1 or not factors:
            factors.insert(0, f"({c})" if c < 0 else str(c))
        terms.append(" * ".join(factors))
    return f"({' + '.join(terms)})"


def _atom(atom: Atom) -> str:
    if isinstance(atom, str):
        return atom
    kind, lhs, rhs = atom
    fn = {"//": "floordiv", "max": "maximum", "min": "minimum"}[kind]
    return f"mlc_{fn}_i64({c_dim(lhs)}, {c_dim(rhs)})"
