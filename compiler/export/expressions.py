"""The export of scalar expressions in any form: their order, the types of numbers, equal parts once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from mlc.dialects.semantics.expr import (
    CASTS,
    COMPARISONS,
    REINTERPRETATIONS,
    Call,
    Const,
    Expr,
    Index,
    Load,
    element_type,
)

V = TypeVar("V")


class Expressions(ABC, Generic[V]):
    """``write(expr)`` for operands of ``elements``: ``load`` gives the tensor of a load, ``index`` that of an
    iterator."""

    def __init__(self, elements: Sequence[str], load: Callable[[Load], V], index: Callable[[str], V]) -> None:
        self.elements, self.load, self.index = elements, load, index
        self._known: dict[tuple[Expr, str], V] = {}

    def write(self, expr: Expr, element: str) -> V:
        """The tensor of an expression; a number without a type gets ``element``."""
        found = self._known.get((expr, element))
        if found is None:
            found = self._known[expr, element] = self._written(expr, element)
        return found

    def _written(self, expr: Expr, element: str) -> V:
        match expr:
            case Const(value=value):
                return self._constant(value, element)
            case Index(name=name):
                return self.index(name)
            case Load():
                return self.load(expr)
        assert isinstance(expr, Call)
        if expr.fn in CASTS or expr.fn in REINTERPRETATIONS:
            target = REINTERPRETATIONS.get(expr.fn, expr.fn)
            inner = element_type(expr.args[0], self.elements) or target
            return self._cast(self.write(expr.args[0], inner), expr.fn, inner, target)
        if expr.fn == "where":
            condition, *sides = expr.args
            return self._select(self.write(condition, "i1"), *(self.write(x, element) for x in sides))
        constant = "f64" if expr.fn in (*COMPARISONS, "isnan") else element
        known = (element_type(x, self.elements) for x in expr.args)
        inner = next((x for x in known if x is not None), constant)
        return self._call(expr.fn, [self.write(x, inner) for x in expr.args], inner)

    @abstractmethod
    def _constant(self, value: float, element: str) -> V:
        """The tensor of a number."""

    @abstractmethod
    def _cast(self, x: V, fn: str, before: str, after: str) -> V:
        """The cast, or reinterpretation, ``fn`` of a tensor from one element type to another."""

    @abstractmethod
    def _select(self, condition: V, x: V, y: V) -> V:
        """``x`` where the condition holds, else ``y``."""

    @abstractmethod
    def _call(self, fn: str, args: list[V], element: str) -> V:
        """A function of tensors of one element type.

        Raises:
            InputError: the form has no such function.
        """
