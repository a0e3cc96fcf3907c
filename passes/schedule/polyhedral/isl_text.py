"""isl's syntax for dimensions, domains and accesses, and the isl parameters of these."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mlc.dialects.semantics.dims import Dim, DimLike, Monomial, minimum_of, quotient_of

ISL_WORDS = "exists and or implies not infty infinity nan min max rat true false ceild floord mod ceil floor"
"""The words that isl's parser does not accept as names, in upper or lower case."""


@dataclass(eq=False)
class Params:
    """The isl parameters of a kernel: one for each symbol, and one for each product of symbols (which is not affine).
    A symbol that is a word of isl is ``p0``, as products are.

    ``dims``: all dimensions in the kernel's statements; ``iters``: the iterators, which are no parameters.
    """

    dims: Sequence[DimLike]
    iters: frozenset[str]

    @cached_property
    def names(self) -> dict[Monomial, str]:
        """The parameter for each monomial that needs one, in the order of the statements."""
        found = dict.fromkeys(m for dim in self.dims for m in _parameters(dim, self.iters))
        single = {m: m[0] for m in found if len(m) == 1 and isinstance(m[0], str)}
        symbols = {m: name for m, name in single.items() if name.lower() not in ISL_WORDS.split()}
        taken = {*symbols.values(), *self.iters}
        free = (name for n in itertools.count() if (name := f"p{n}") not in taken)
        return {m: symbols[m] if m in symbols else next(free) for m in found}

    @cached_property
    def values(self) -> Mapping[str, DimLike]:
        """The dimension expression of each parameter."""
        return {name: Dim(((monomial, 1),)) for monomial, name in self.names.items()}

    @cached_property
    def prefix(self) -> str:
        """The tuple of parameters with which the text of a set or map begins."""
        return f"[{', '.join(self.values)}] -> " if self.values else ""

    @cached_property
    def context(self) -> str:
        """The constraints on parameters: no symbolic dimension is negative."""
        symbols = (name for m, name in self.names.items() if len(m) == 1 and isinstance(m[0], str))
        return " and ".join(f"{name} >= 0" for name in symbols)

    def text(self, dim: DimLike) -> str:
        """Return ``dim`` as an isl expression."""
        if isinstance(dim, int):
            return str(dim)
        parts = []
        for monomial, c in dim.terms:
            factor = self._factor(monomial) if monomial else ""
            parts.append(str(c) if not monomial else factor if c == 1 else f"{c}*{factor}")
        return "(" + " + ".join(parts) + ")" if len(parts) > 1 else parts[0]

    def _factor(self, monomial: Monomial) -> str:
        if quotient := quotient_of(monomial):
            return f"(({self.text(quotient[0])})//{quotient[1]})"
        if sides := minimum_of(monomial):
            return f"min({', '.join(map(self.text, sides))})"
        return str(monomial[0]) if _iterator(monomial, self.iters) else self.names[monomial]


def _parameters(dim: DimLike, iters: frozenset[str]) -> Iterator[Monomial]:
    """Yield the monomials of ``dim`` that are parameters."""
    for monomial, _ in dim.terms if isinstance(dim, Dim) else ():
        if quotient := quotient_of(monomial):
            yield from _parameters(quotient[0], iters)
        elif sides := minimum_of(monomial):
            yield from (m for side in sides for m in _parameters(side, iters))
        elif monomial and not _iterator(monomial, iters):
            yield monomial


def _iterator(monomial: Monomial, iters: frozenset[str]) -> bool:
    return len(monomial) == 1 and monomial[0] in iters


def domain_text(name: str, bounds: Mapping[str, DimLike], params: Params) -> str:
    """Return the instances of a statement as an isl set."""
    conditions = " and ".join(f"0 <= {i} < {params.text(b)}" for i, b in bounds.items())
    return f"{params.prefix}{{ {name}[{', '.join(bounds)}]{' : ' if conditions else ''}{conditions} }}"


def restricted_text(name: str, bounds: Mapping[str, DimLike], params: Params, conditions: Sequence[DimLike]) -> str:
    """Return the instances of a statement for which ``conditions`` are at least 0, as an isl set."""
    sides = [f"0 <= {i} < {params.text(b)}" for i, b in bounds.items()]
    where = " and ".join([*sides, *(f"{params.text(c)} >= 0" for c in conditions)])
    return f"{params.prefix}{{ {name}[{', '.join(bounds)}] : {where} }}"


def access_text(name: str, iters: Sequence[str], array: str, index: Sequence[DimLike], params: Params) -> str:
    """Return the element that each instance of a statement reads or writes, as an isl map."""
    element = f"{array}[{', '.join(map(params.text, index))}]"
    where = f" : {params.context}" if params.context else ""
    return f"{params.prefix}{{ {name}[{', '.join(iters)}] -> {element}{where} }}"
