"""Numbers that only the run knows, where ONNX takes them for sizes, places and axes.

A whole number that data gives is a symbol, ``value0``, so that what a model computes with it folds as with dimensions
(``Tensor.trace``): ``Concat([n, 768])`` keeps its 768. In expressions it is read from its tensor. Where it becomes a
size, ``graph.size`` makes it a dimension of its own and checks it when the model runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Operation, SSAValue

from mlc.dialects.dims import Dim, DimLike, evaluate, symbols_of
from mlc.dialects.graph import SizeOp
from mlc.dialects.graph.loop import steps_of
from mlc.dialects.types import TEXT
from mlc.frontends.onnx.errors import NeedsConstant
from mlc.frontends.onnx.fold import VALUE, Array, Undecided, at_least
from mlc.frontends.onnx.tensors import Tensor

if TYPE_CHECKING:
    from mlc.frontends.onnx.builder import Builder

FEW = 64  # elements up to which a tensor's numbers are followed
_NAME = re.compile(rf"\b{VALUE.pattern}\b")
WHOLE = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")


def followed(x: Tensor) -> bool:
    """Whether the elements of ``x`` can be numbers: whole, and few."""
    sizes = [d for d in x.shape if isinstance(d, int)]
    return x.element in WHOLE and len(sizes) == x.rank and int(np.prod(sizes)) <= FEW


def values_of(dims: Iterable[DimLike]) -> set[str]:
    """The numbers from data among the symbols of dimensions."""
    return {symbol for symbol in symbols_of(dims) if VALUE.fullmatch(symbol)}


def is_open(number: DimLike | str) -> bool:
    """Whether a number is known in a run, or a turn of it, alone: no dimension."""
    return isinstance(number, str) or bool(values_of([number]) or steps_of([number]))


class Numbers:
    """The numbers and the sizes made of them, of the blocks that ``build`` writes."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self.arrays: dict[SSAValue, Array] = {}
        self.places: dict[str, tuple[Tensor, str]] = {}  # the tensor of a number, and its index there
        self.sizes: dict[tuple[str, str], SizeOp] = {}

    def of(self, x: Tensor) -> Array:
        """The elements of a tensor: whole numbers, dimensions, or expressions of numbers that data gives.

        Raises:
            NeedsConstant: they are too many, or not whole, and computed at run time.
        """
        if x.known is not None:
            return x.known
        if x.element == TEXT or not followed(x):
            raise NeedsConstant(f"{x} is computed at run time; at most {FEW} whole numbers of a known count may be")
        value = x.value or self.build.value(x)  # where it was made, so that it is the same number in regions
        if value not in self.arrays:
            self.arrays[value] = self._traced(x)
        found = self.arrays[value]
        return np.asarray(np.frompyfunc(self._settled, 1, 1)(found), object) if found.dtype == object else found

    def _traced(self, x: Tensor) -> Array:
        """What the elements were computed from, as far as that can be written down."""
        try:
            if x.trace is not None:
                return x.trace()
        except (Undecided, NeedsConstant):
            pass
        shape = tuple(d for d in x.shape if isinstance(d, int))  # all of them, as its numbers are followed
        return np.array([self._named(x, at) for at in np.ndindex(shape)], object).reshape(shape)

    def _named(self, x: Tensor, at: tuple[int, ...]) -> Dim:
        name = f"value{len(self.places)}"
        self.places[name] = x, ", ".join(map(str, at)) or "()"
        return Dim.symbol(name)

    def read(self, expr: str, xs: Sequence[Tensor]) -> tuple[str, list[Tensor]]:
        """An expression that reads each number from its tensor, one of the operands."""
        operands = list(xs)

        def load(match: re.Match[str]) -> str:
            x, index = self.places[match.group()]
            if not any(x is o for o in operands):
                operands.append(x)
            text = f"x{next(n for n, o in enumerate(operands) if o is x)}[{index}]"
            return text if x.element == "i64" else f"i64({text})"

        return _NAME.sub(load, expr), operands

    def number(self, text: str) -> Dim:
        """The number that a scalar expression of dimensions and numbers is, computed once when the model runs."""
        scalar = self.build.compute(f"i64({text})", [], ())
        return self.of(scalar).item()

    def size(self, number: DimLike | str, why: str, most: DimLike | None = None) -> DimLike:
        """``number``, an expression, as a dimension from 0 to ``most``; else the run fails, saying ``why``.

        What is a dimension anyway stays as it is.
        """
        number = number if isinstance(number, str) else self._settled(number)
        if isinstance(number, int) or not is_open(number) and at_least(number, 0):  # type: ignore[arg-type]
            if most is not None and not at_least(most, number):  # type: ignore[arg-type]
                self.check(f"({most}) - ({number})", why)
            return number  # type: ignore[return-value]
        bound = None if most is None or is_open(most) else most
        if bound == 0:
            self.check(f"-abs({number})", why)
            return 0
        return self._sized(str(number), bound, why)

    def check(self, number: DimLike | str, why: str) -> None:
        """The run fails, saying ``why``, where ``number`` is below 0."""
        if isinstance(number, str) or not at_least(number, 0):
            self._sized(f"min({number}, 0)", 0, why)

    def _settled(self, number: DimLike) -> DimLike:
        """``number`` with the sizes that its numbers have become."""
        known = {name: self._made(name) for name in values_of([number])}
        return evaluate(number, {name: d for name, d in known.items() if d is not None})

    def _made(self, text: str) -> Dim | None:
        """The size that an expression is in this block or around it."""
        found = (op for (key, _), op in self.sizes.items() if key == text and self._seen(op))
        return next((Dim.symbol(op.size.data) for op in found), None)

    def _seen(self, op: Operation) -> bool:
        return any(scope.block is op.parent for scope in self.build.scopes)

    def _sized(self, text: str, most: DimLike | None, why: str) -> Dim:
        key = text, str(most)
        if key not in self.sizes or not self._seen(self.sizes[key]):
            value = self.build.value(self.build.compute(f"i64({text})", [], ()))
            op = SizeOp(self.build.size(), value, most, why.replace('"', "'").replace("\\", "/"))
            self.build.emit(op)
            self.sizes[key] = op
        return Dim.symbol(self.sizes[key].size.data)
