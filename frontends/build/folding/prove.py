"""Proofs about dimensions by isl: whether an expression is never negative, or never 0, at all sizes that are accepted.

What is known of symbols: dimensions of inputs are at least 1, run-time dimensions and loop indices at least 0, and the
guards of the module hold (``assuming``). Products of symbols, and divisions by symbols, are numbers of which isl knows
simple bounds alone. Each proof has a bounded number of isl's operations; what is not proved in them is unknown.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

import islpy as isl

from mlc.dialects.graph.loop import STEP
from mlc.dialects.graph.sizes import SIZE
from mlc.dialects.semantics.dims import Atom, Dim, DimLike, Monomial, symbols_of

VALUE = re.compile(r"value\d+")  # names of run-time scalars, of which nothing is known
MAX_OPERATIONS = 50_000  # of isl, for one proof: some ms
MAX_ATOMS = 24  # divisions, minima and maxima in the expressions of one proof
MAX_FACTS = 8
_assumed: ContextVar[Collection[DimLike]] = ContextVar("assumed", default=())
_threads = threading.local()


@contextmanager
def assuming(guards: Collection[DimLike]) -> Iterator[None]:
    """A context in which proofs assume that no dimension of ``guards`` is negative. The list may grow meanwhile."""
    token = _assumed.set(guards)
    try:
        yield
    finally:
        _assumed.reset(token)


def never_negative(value: DimLike) -> bool:
    """Whether ``value`` is proved to be at least 0."""
    return value >= 0 if isinstance(value, int) else _holds(value, ">= 0", _facts(value))


def never_zero(value: DimLike) -> bool:
    """Whether ``value`` is proved to be other than 0."""
    return value != 0 if isinstance(value, int) else _holds(value, "!= 0", _facts(value))


def always_zero(value: DimLike) -> bool:
    """Whether ``value`` is proved to be 0."""
    return value == 0 if isinstance(value, int) else _holds(value, "= 0", _facts(value))


def implied(value: Dim, by: Sequence[DimLike]) -> bool:
    """Whether ``value`` is at least 0 at all sizes, 0 included, at which all of ``by`` are."""
    return _holds(value, ">= 0", tuple(by)[:MAX_FACTS], least=0)


def _facts(value: Dim) -> tuple[DimLike, ...]:
    """The assumed guards about a symbol of ``value``."""
    used = value.symbols()
    return tuple([g for g in _assumed.get() if symbols_of([g]) & used][:MAX_FACTS])


@lru_cache(maxsize=1 << 14)
def _holds(value: Dim, relation: str, facts: tuple[DimLike, ...], least: int = 1) -> bool:
    linear = all(len(m) < 2 and isinstance(a, str) for m, _ in value.terms for a in m)
    if not facts and linear and relation != "!= 0":
        return False  # the simple bounds of linear expressions are exact
    text = _Text(least)
    given = [f"{text.of(fact)} >= 0" for fact in facts]
    wrong = f"not ({text.of(value)} {relation})"
    if text.atoms > MAX_ATOMS:
        return False
    known = " and ".join([*given, *text.bounds(), wrong])
    return _is_empty(f"[{', '.join(text.params.values())}] -> {{ : {known} }}")


def _is_empty(text: str) -> bool:
    """Whether isl proves that a set has no element."""
    if not hasattr(_threads, "context"):
        _threads.context = isl.Context()
    context: isl.Context = _threads.context
    context.reset_operations()
    context.set_max_operations(MAX_OPERATIONS)
    try:
        return bool(isl.Set.read_from_str(context, text).is_empty())
    except isl.Error:
        return False
    finally:
        context.set_max_operations(0)


class _Text:
    """Dimensions in isl's syntax: symbols and what is not linear are its parameters."""

    def __init__(self, least: int) -> None:
        self.params: dict[Monomial, str] = {}
        self.least = least  # of a dimension of the inputs
        self.atoms = 0

    def of(self, value: DimLike) -> str:
        if isinstance(value, int):
            return f"({value})"
        return f"({' + '.join(f'{c}{self._monomial(m)}' for m, c in value.terms)})"

    def _monomial(self, monomial: Monomial) -> str:
        if len(monomial) != 1:
            return f"*{self._param(monomial)}" if monomial else ""
        (atom,) = monomial
        if isinstance(atom, str):
            return f"*{self._param(monomial)}"
        self.atoms += 1
        kind, lhs, rhs = atom
        if kind != "//":
            return f"*{kind}({self.of(lhs)}, {self.of(rhs)})"
        if isinstance(rhs, int) and rhs > 0:
            return f"*floor({self.of(lhs)}/{rhs})"
        return f"*{self._param(monomial)}"

    def _param(self, monomial: Monomial) -> str:
        return self.params.setdefault(monomial, f"p{len(self.params)}")

    def bounds(self) -> Iterator[str]:
        """What is known of the parameters; a product is at least each factor, where the others are at least 1."""
        for monomial, name in list(self.params.items()):
            least = [self._bound(atom) for atom in monomial]
            if all(b is not None and b >= 0 for b in least):
                yield f"{name} >= {math.prod(b for b in least if b is not None)}"
            if len(monomial) > 1 and all(b is not None and b >= 1 for b in least):
                yield from (f"{name} >= {p}" for m, p in self.params.items() if len(m) == 1 and m[0] in monomial)

    def _bound(self, atom: Atom) -> int | None:
        return atom_bound(atom, self.least)


def lower_bound(value: DimLike, least: int = 1) -> int | None:
    """A constant lower bound of ``value``, for dimensions of at least ``least``, and of at least 0 for run-time
    dimensions and loop indices; None where there is no such simple bound.
    """
    if isinstance(value, int):
        return value
    total = 0
    for monomial, c in value.terms:
        bounds = [atom_bound(atom, least) for atom in monomial]
        if (c < 0 and monomial) or any(b is None or b < 0 for b in bounds):
            return None
        total += c * math.prod(bounds)  # type: ignore[arg-type]
    return total


def atom_bound(atom: Atom, least: int = 1) -> int | None:
    """As ``lower_bound``, of a symbol, division, minimum or maximum."""
    if isinstance(atom, str):
        return None if VALUE.fullmatch(atom) else 0 if SIZE.fullmatch(atom) or STEP.fullmatch(atom) else least
    kind, lhs, rhs = atom
    left, right = lower_bound(lhs, least), lower_bound(rhs, least)
    if kind == "max":
        return max((b for b in (left, right) if b is not None), default=None)
    if left is None or right is None:
        return None
    if kind == "min":
        return min(left, right)
    return left // rhs if isinstance(rhs, int) and rhs > 0 else 0 if left >= 0 and right > 0 else None
