"""Trace records: what an array computes, as a graph of small interned objects.

A record is a function of the Builder with its operands and parameters. Two records of the same function, operands and
parameters are one object: common subexpressions exist once, and a trace is compared by identity.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from mlc import errors
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.types import Shape, element_of_dtype
from mlc.frontends.array import dtypes
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

Emit = Callable[..., Any]
"""``emit(build, operands, *params)`` makes graph operators: one tensor, or a list of several for ``item``."""

Origin = tuple[CodeType | None, int]
"""A position in code: its instruction, from which the line follows."""
NOWHERE: Origin = (None, 0)

_ROOT = Path(__file__).resolve().parents[2]
_BESIDE = ("frontends", "dialects", "passes", "runtime")
_FOLDERS = (Path(errors.__file__).resolve().parent, *(_ROOT / each for each in _BESIDE))
"""Of mlc: one folder where it is installed, several of a working tree, whose tests and examples are outside."""


class Record:
    """The value of ``emit`` on ``operands``: an array of ``shape`` (integers or dimensions) and ``element``.

    ``origin`` is the user's code that made it first, ``where`` as file and line; ``data`` the elements of a leaf;
    ``traced`` whether it depends on an argument of a function that is traced; ``variables`` those of derivatives that
    it depends on.
    """

    __slots__ = (
        "__weakref__",
        "data",
        "element",
        "emit",
        "operands",
        "origin",
        "params",
        "shape",
        "traced",
        "variables",
    )

    def __init__(
        self,
        emit: Emit,
        operands: tuple[Record, ...],
        params: tuple[Any, ...],
        element: str,
        shape: Shape,
        origin: Origin | None = None,
    ) -> None:
        self.emit, self.operands, self.params = emit, operands, params
        self.element, self.shape = element, shape
        self.data: np.ndarray[Any, Any] | None = None
        self.traced, self.variables = False, NO_VARIABLES
        for operand in operands:  # in every operation: comprehensions would cost more than what they do
            self.traced = self.traced or operand.traced
            if operand.variables:
                self.variables |= operand.variables
        self.origin = caller() if origin is None else origin

    @property
    def where(self) -> str:
        """``file.py:12``, or nothing."""
        return text_of(self.origin)

    def as_donated(self, to: str) -> Record:
        """An array of this type whose elements were given to a call, which ``to`` names: each use is an error."""
        return Record(donated, (), (to,), self.element, self.shape, NOWHERE)

    def __repr__(self) -> str:
        return f"{self.emit.__name__}: {dtypes.text(self.element, self.shape)}"


class Unique:
    """A parameter that equals no other, for arguments, data and variables. ``closed``: nothing new will be
    differentiated by it.
    """

    def __init__(self) -> None:
        self.closed = False


NO_VARIABLES: frozenset[Unique] = frozenset()
_interned: WeakValueDictionary[tuple[Any, ...], Record] = WeakValueDictionary()


def record(emit: Emit, operands: Sequence[Record], params: tuple[Any, ...], element: str, shape: Shape) -> Record:
    """The record of this function, operands and parameters, of which there is only one. ``params`` are hashable."""
    operands = tuple(operands)
    key = (emit, operands, params, tuple(map(type, params)), element)
    found = _interned.get(key)
    if found is None:
        found = _interned[key] = Record(emit, operands, params, element, shape)
    return found


class Body:
    """A function that was traced on its own ``arguments``: the body of a loop, or a branch. ``captured`` are the outer
    arrays that it reads.
    """

    def __init__(self, arguments: Sequence[Record], outputs: Sequence[Record]) -> None:
        self.arguments, self.outputs = tuple(arguments), tuple(outputs)
        order = ordered(outputs, set(arguments))
        inside = _inside(self.arguments, order)
        used = [operand for each in order if each in inside for operand in each.operands]
        self.captured = tuple(dict.fromkeys(each for each in (*used, *outputs) if each not in inside))


class Variables(tuple["Unique", ...]):
    """A parameter of a derivative: the variables by which it is taken."""


def _inside(arguments: Sequence[Record], order: Sequence[Record]) -> set[Record]:
    """The records that depend on ``arguments``, and all between the variables and the results of derivatives among
    them, which are differentiated where the derivative is.
    """
    inside, found = set(arguments), -1
    while len(inside) > found:
        found = len(inside)
        for each in order:
            if any(operand in inside for operand in each.operands):
                inside.add(each)
                by = {v for p in each.params if isinstance(p, Variables) for v in p}
                if by:
                    inside.update(r for r in ordered(each.operands, set(arguments)) if not by.isdisjoint(r.variables))
    return inside


def argument(build: Builder, operands: Sequence[Tensor], unique: Unique) -> Tensor:
    """An argument of the traced function, or the data of an array: the lowering knows its tensor."""
    raise NotSupported("an array of a trace that has ended; return it from its function in place of keeping it")


def donated(build: Builder, operands: Sequence[Tensor], to: str) -> Tensor:
    """The record of an array that was given away. No trace may contain it."""
    raise AssertionError(f"an array that was donated to {to}")


def check_not_donated(given: Record) -> None:
    """Raises InputError where the array was given away."""
    if given.emit is donated:
        what = f"{where_called()}: the array was donated to {given.params[0]}, which has overwritten it"
        raise errors.InputError(what, hint="Use the array that the call returned in its place")


def new_argument(element: str, shape: Shape, traced: bool = False) -> Record:
    """An argument of a program; ``traced``: of a function that is traced, so it has no elements. A complex one is two.
    """
    assert element not in dtypes.PART, f"an argument of {element} is a pair of {dtypes.PART.get(element)}"
    made = Record(argument, (), (Unique(),), element, shape, NOWHERE)
    made.traced = traced
    return made


def of_data(data: np.ndarray[Any, Any]) -> Record:
    """The record of these elements, which nobody may change afterwards."""
    made = new_argument(element_of_dtype(data.dtype), data.shape)
    made.data = data
    return made


def item(build: Builder, operands: Sequence[Any], n: int) -> Tensor:
    """Result ``n`` of a record of several."""
    (results,) = operands
    return results[n]


def dimension(build: Builder, operands: Sequence[Tensor], dim: Dim) -> Tensor:
    """The value of an open dimension."""
    build.refuse_zero_divisors(dim)
    return build.compute(f"i64({dim})", [], ())


def ordered(outputs: Sequence[Record], known: Container[Record] = ()) -> list[Record]:
    """The records that ``outputs`` depend on, operands before users; without those that are ``known``."""
    seen: set[Record] = set()
    order: list[Record] = []
    stack = [(each, False) for each in reversed(outputs)]
    while stack:
        each, after = stack.pop()
        if after:
            order.append(each)
        elif each not in seen and each not in known:
            seen.add(each)
            stack.append((each, True))
            stack += [(operand, False) for operand in reversed(each.operands) if operand not in seen]
    return order


def caller() -> Origin:
    """The innermost stack frame outside of mlc. Tests and examples count as outside."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_inside(frame.f_code.co_filename):
        frame = frame.f_back
    return NOWHERE if frame is None else (frame.f_code, frame.f_lasti)


def text_of(origin: Origin) -> str:
    """``file.py:12`` of user code, whose line is looked up when it is asked for."""
    code, instruction = origin
    if code is None:
        return ""
    line = next((line for start, end, line in code.co_lines() if start <= instruction < end), None)
    return f"{os.path.basename(code.co_filename)}:{line or code.co_firstlineno}"


def where_called() -> str:
    """``file.py:12`` of the nearest caller outside of mlc."""
    return text_of(caller())


@cache
def is_inside(file: str) -> bool:
    """Whether a file is part of mlc or of a library that calls it back."""
    others = "/optree/" in file or file.startswith("<frozen")
    return others or any(file.startswith(f"{folder}/") for folder in _FOLDERS)
