"""Conditions on sizes: what a predicate that is computed from dimensions says about them.

    Equal(Shape(x)[-1], 1)               n == 1, as the dimension min(n-1, -n+1), which is at least 0 where that holds
    And(n > 16, Not(Equal(n % 2, 0)))    the minimum of two such dimensions

Such a dimension is a guard of a module (``Builder.guards``), so that a condition can be required.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.dialects.semantics.dims import Dim, DimLike, dim_max, dim_min, equality
from mlc.dialects.semantics.expr import CASTS
from mlc.frontends.build.errors import NeedsConstant
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.fold import SCALARS, Array, Undecided, tracing

if TYPE_CHECKING:
    from mlc.frontends.build.builder import Builder
    from mlc.frontends.build.tensors import Tensor

MAX_TERMS = 64  # of a condition, which each call evaluates


@dataclass(frozen=True)
class Predicate:
    """True where ``guard`` is at least 0."""

    guard: DimLike

    def __invert__(self) -> Predicate:
        return Predicate(-1 - self.guard)


def guard_of_sizes(build: Builder, condition: Tensor) -> DimLike | None:
    """As ``guard_of``, but emits nothing: None where the condition reads data other than whole numbers."""
    trace = Trace(build, emits=False)
    try:
        with tracing(trace):
            found = trace.of(condition).reshape(()).item()
    except NeedsConstant:
        return None
    guard = _as_guard(found)
    return guard if _terms(guard) <= MAX_TERMS else None


def guard_of(build: Builder, condition: Tensor) -> DimLike:
    """A dimension that is at least 0 where ``condition``, a single predicate, is true.

    Of a condition on data it is a run-time scalar minus 1.
    """
    if (guard := guard_of_sizes(build, condition)) is not None:
        return guard
    return _as_guard(_read(build, condition).reshape(()).item())


def _as_guard(found: Any) -> DimLike:
    return found.guard if isinstance(found, Predicate) else int(bool(found)) - 1


@dataclass
class Trace:
    """Computes dimensions and predicates from the traces of tensors, of each once; run-time scalars of data."""

    build: Builder
    emits: bool = True  # operators that read elements
    memo: dict[int, tuple[Tensor, Array]] = field(default_factory=dict)

    def of(self, x: Tensor) -> Array:
        """The elements of a tensor.

        Raises:
            NeedsConstant: they are too many, or not whole, and computed from data.
        """
        if id(x) not in self.memo:
            self.memo[id(x)] = x, self._elements(x)
        return self.memo[id(x)][1]

    def _elements(self, x: Tensor) -> Array:
        if x.known is not None:
            return x.known
        try:
            if x.trace is not None:
                return x.trace()
        except (Undecided, NeedsConstant):
            pass
        if x.element == "i1" and not self.emits:
            raise NeedsConstant("a predicate on data")
        with tracing(None):
            return _read(self.build, x)

    @staticmethod
    def apply(fn: str, args: Sequence[Array]) -> Any:
        """A function of arrays of numbers, dimensions and predicates.

        Raises:
            Undecided: it has no meaning on these.
        """
        if fn == "i1":
            return _each(lambda a: a if isinstance(a, Predicate | bool) else _not(_eq(a, 0)), *args)
        if fn in CASTS and fn[0] in "iu":
            return _each(
                lambda a: _number(a) if isinstance(a, Predicate) else int(a) if a is True or a is False else a, *args
            )
        if fn not in FUNCTIONS:
            raise Undecided
        return _each(FUNCTIONS[fn], *args)


def _each(function: Callable[..., Any], *args: Array) -> Any:
    return np.frompyfunc(lambda *given: function(*map(_plain, given)), len(args), 1)(*args)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _read(build: Builder, x: Tensor) -> Array:
    """The elements as run-time scalars of the tensor itself."""
    if x.element != "i1":
        return build.scalars.of(x)
    with build.at_definition(x):
        numbers = build.scalars.of(build.cast(x, "i64"))
    return np.asarray(np.frompyfunc(lambda n: Predicate(n - 1), 1, 1)(numbers), object)


def _terms(guard: DimLike) -> int:
    return str(guard).count("(") + len(guard.terms) if isinstance(guard, Dim) else 0


# -- functions of predicates


def _ge(a: DimLike, b: DimLike) -> bool | Predicate:
    known = at_least(a, b)
    return Predicate(a - b) if known is None else known


def _eq(a: Any, b: Any) -> bool | Predicate:
    if isinstance(a, Predicate | bool) or isinstance(b, Predicate | bool):
        return _not(_xor(a, b))
    try:
        return bool(SCALARS["eq"](a, b))
    except Undecided:
        return Predicate(equality(a - b))


def _not(a: Any) -> Any:
    return ~a if isinstance(a, Predicate) else not a


def _and(a: Any, b: Any) -> Any:
    if isinstance(a, Predicate) and isinstance(b, Predicate):
        return Predicate(dim_min(a.guard, b.guard))
    known, other = (a, b) if not isinstance(a, Predicate) else (b, a)
    return other if known else False


def _or(a: Any, b: Any) -> Any:
    return _not(_and(_not(a), _not(b)))


def _xor(a: Any, b: Any) -> Any:
    return _or(_and(a, _not(b)), _and(_not(a), b))


def _where(condition: Any, a: Any, b: Any) -> Any:
    if not isinstance(condition, Predicate):
        return a if condition else b
    if isinstance(a, Predicate | bool) or isinstance(b, Predicate | bool):
        return _or(_and(condition, a), _and(_not(condition), b))
    return b + _number(condition) * (a - b)


def _number(a: Predicate) -> DimLike:
    """1 where it is true, else 0."""
    return dim_min(dim_max(a.guard + 1, 0), 1)


FUNCTIONS: dict[str, Callable[..., Any]] = SCALARS | {
    "eq": _eq,
    "ne": lambda a, b: _not(_eq(a, b)),
    "ge": _ge,
    "gt": lambda a, b: _ge(a, b + 1),
    "le": lambda a, b: _ge(b, a),
    "lt": lambda a, b: _ge(b, a + 1),
    "not_": _not,
    "and_": _and,
    "or_": _or,
    "xor": _xor,
    "where": _where,
}
