"""Run-time scalars: data-dependent integers that become extents, offsets and axes.

Each is a symbol, ``value0``, so that arithmetic on it folds as on dimensions (``Tensor.trace``): ``Concat([n, 768])``
keeps its 768. Expressions read it from its tensor. Where it becomes an extent, ``graph.size`` makes it a run-time
dimension and checks it at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import SizeOp
from mlc.dialects.graph.loop import steps_of
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, symbols_of
from mlc.dialects.types import STRING
from mlc.frontends.build.errors import NeedsConstant
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.fold import Array, Undecided, current_trace
from mlc.frontends.build.folding.prove import VALUE
from mlc.frontends.build.folding.ratios import FLOATS
from mlc.frontends.build.tensors import Tensor

if TYPE_CHECKING:
    from mlc.frontends.build.builder import Builder

MAX_TRACED = 64  # elements of a tensor whose values are traced as run-time scalars
_NAME = re.compile(rf"\b{VALUE.pattern}\b")
WHOLE = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")


def is_traced(x: Tensor) -> bool:
    """Whether the elements of ``x`` can be run-time scalars: integers, at most ``MAX_TRACED``."""
    sizes = [d for d in x.shape if isinstance(d, int)]
    return x.element in WHOLE and len(sizes) == x.rank and int(np.prod(sizes)) <= MAX_TRACED


def values_of(dims: Iterable[DimLike]) -> set[str]:
    """The run-time scalars among the symbols of dimensions."""
    return {symbol for symbol in symbols_of(dims) if VALUE.fullmatch(symbol)}


Scalar = DimLike | str
"""An integer, a dimension, or a run-time scalar: a symbol, or an expression of some as text."""


def is_runtime(number: Scalar) -> bool:
    """Whether a scalar is known only at run time or in an iteration, and is no dimension."""
    return isinstance(number, str) or bool(values_of([number]) or steps_of([number]))


def any_runtime(scalars: Iterable[Scalar]) -> bool:
    """Whether one of the scalars is known only at run time."""
    return any(is_runtime(n) for n in scalars)


class RuntimeScalars:
    """The run-time scalars, and the dimensions made of them, of the blocks that ``build`` inserts into."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self.arrays: dict[SSAValue, Array] = {}
        self.sources: dict[str, tuple[Tensor, str]] = {}  # the tensor of each scalar, and its index there
        self.sizes: dict[tuple[str, str], SizeOp] = {}

    def of(self, x: Tensor) -> Array:
        """The elements of a tensor: integers, dimensions, or expressions of run-time scalars.

        Raises:
            NeedsConstant: they are too many, or not whole, and computed at run time.
        """
        if x.known is not None:
            return x.known
        if (trace := current_trace()) is not None:
            return trace.of(x)
        if x.element == STRING or not is_traced(x):
            raise NeedsConstant(f"{x} is computed at run time; at most {MAX_TRACED} integers of a known count may be")
        value = x.value or self.build.value(x)  # where it was made, so that it is the same scalar in regions
        if value not in self.arrays:
            self.arrays[value] = self._traced(x)
        found = self.arrays[value]
        return np.asarray(np.frompyfunc(self._settled, 1, 1)(found), object) if found.dtype == object else found

    def traced(self, x: Tensor) -> Array:
        """As ``of``, in a trace: the few floats of a tensor are fractions of dimensions.

        Raises:
            NeedsConstant, Undecided: they are no such fractions.
        """
        if x.element not in FLOATS or x.known is not None:
            return self.of(x)
        sizes = [d for d in x.shape if isinstance(d, int)]
        if x.trace is None or len(sizes) < x.rank or int(np.prod(sizes)) > MAX_TRACED:
            raise NeedsConstant(f"{x} is computed at run time")
        return x.trace()

    def _traced(self, x: Tensor) -> Array:
        """The elements as expressions of the scalars that they were computed from, where such expressions exist."""
        try:
            if x.trace is not None:
                return x.trace()
        except (Undecided, NeedsConstant):
            pass
        shape = tuple(d for d in x.shape if isinstance(d, int))  # all of them, as the tensor is traced
        return np.array([self._named(x, at) for at in np.ndindex(shape)], object).reshape(shape)

    def _named(self, x: Tensor, at: tuple[int, ...]) -> Dim:
        name = f"value{len(self.sources)}"
        self.sources[name] = x, ", ".join(map(str, at)) or "()"
        return Dim.symbol(name)

    def read(self, expr: str, xs: Sequence[Tensor]) -> tuple[str, list[Tensor]]:
        """An expression that reads each scalar from its tensor, one of the operands."""
        operands = list(xs)

        def load(match: re.Match[str]) -> str:
            x, index = self.sources[match.group()]
            if not any(x is o for o in operands):
                operands.append(x)
            text = f"x{next(n for n, o in enumerate(operands) if o is x)}[{index}]"
            return text if x.element == "i64" else f"i64({text})"

        return _NAME.sub(load, expr), operands

    def from_expr(self, text: str) -> Dim:
        """The run-time scalar that an expression of dimensions and scalars gives, computed once."""
        scalar = self.build.compute(f"i64({text})", [], ())
        return self.of(scalar).item()

    def dim(self, number: Scalar, why: str, most: DimLike | None = None) -> DimLike:
        """``number``, an expression, as a dimension from 0 to ``most``; else the run fails, saying ``why``.

        A dimension stays as it is.
        """
        number = number if isinstance(number, str) else self._settled(number)
        if isinstance(number, int) or not is_runtime(number) and at_least(number, 0):  # type: ignore[arg-type]
            if most is not None and not at_least(most, number):  # type: ignore[arg-type]
                self.check(f"({most}) - ({number})", why)
            return number  # type: ignore[return-value]
        bound = None if most is None or is_runtime(most) else most
        if bound == 0:
            self.check(f"-abs({number})", why)
            return 0
        return self._sized(str(number), bound, why)

    def check(self, number: Scalar, why: str) -> None:
        """The run fails, saying ``why``, where ``number`` is below 0."""
        if isinstance(number, str) or not at_least(number, 0):
            self._sized(f"min({number}, 0)", 0, why)

    def _settled(self, number: DimLike) -> DimLike:
        """``number`` with its scalars replaced by the dimensions that were made of them."""
        known = {name: self._made(name) for name in values_of([number])}
        return evaluate(number, {name: d for name, d in known.items() if d is not None})

    def _made(self, text: str) -> Dim | None:
        """The dimension that was made of an expression in this block or in an enclosing one."""
        found = (op for (key, _), op in self.sizes.items() if key == text and self._seen(op))
        return next((Dim.symbol(op.size.data) for op in found), None)

    def _seen(self, op: Operation) -> bool:
        return any(scope.block is op.parent for scope in self.build.scopes)

    def _sized(self, text: str, most: DimLike | None, why: str) -> Dim:
        key = text, str(most)
        if key not in self.sizes or not self._seen(self.sizes[key]):
            value = self.build.value(self.build.compute(f"i64({text})", [], ()))
            op = SizeOp(self.build.new_size(), value, most, why.replace('"', "'").replace("\\", "/"))
            self.build.emit(op)
            self.sizes[key] = op
        return Dim.symbol(self.sizes[key].size.data)
