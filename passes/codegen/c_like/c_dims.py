"""Symbolic dimensions as C expressions over variables that have the names of the symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mlc.dialects.semantics.dims import Atom, Dim, DimLike

NONE: Mapping[Atom, str] = MappingProxyType({})


def c_dim(value: DimLike, names: Mapping[Atom, str] = NONE) -> str:
    """``2*batch + (h+1)//2`` → ``(2 * batch + mlc_floordiv_i64(h + 1, 2))``; integers stay as they are. ``names``:
    variables that have the values of atoms."""
    if isinstance(value, int):
        return str(value)
    terms = []
    for monomial, c in value.terms:
        factors = [_atom(a, names) for a in monomial]
        if c != 1 or not factors:
            factors.insert(0, f"({c})" if c < 0 else str(c))
        terms.append(" * ".join(factors))
    return f"({' + '.join(terms)})"


def _atom(atom: Atom, names: Mapping[Atom, str]) -> str:
    if isinstance(atom, str) or atom in names:
        return atom if isinstance(atom, str) else names[atom]
    kind, lhs, rhs = atom
    fn = {"//": "floordiv", "max": "maximum", "min": "minimum"}[kind]
    return f"mlc_{fn}_i64({c_dim(lhs, names)}, {c_dim(rhs, names)})"


def shared_atoms(values: Iterable[DimLike], type_: str) -> tuple[list[str], dict[Atom, str]]:
    """Return the lines that declare a variable for each division, maximum and minimum in ``values``, and the variables'
    names: many extents are multiples of the same few."""
    names: dict[Atom, str] = {}
    lines: list[str] = []

    def declare(value: DimLike) -> None:
        for atom in (a for m, _ in value.terms for a in m) if isinstance(value, Dim) else ():
            if not isinstance(atom, str) and atom not in names:
                declare(atom[1])
                declare(atom[2])
                text = _atom(atom, names)
                names[atom] = f"q{len(names)}"
                lines.append(f"  const {type_} {names[atom]} = {text};")

    for value in values:
        declare(value)
    return lines, names
