"""Functions of small arrays, evaluated when they are called: a function and the types of its arguments are a program.

A record, its place in a trace and the look-up of the trace cost some 100 us an operation; here one dictionary is asked.
Programs are those of the interpreter. Arrays of more elements stay lazy: their operations are fused and compiled.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.prepared import Interpreted, interpreted
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array
from mlc.frontends.array.lowering import import_trace
from mlc.frontends.array.record import new_argument

Program = Callable[[Sequence[Any]], Any]
MOST_ELEMENTS = 1 << 14
"""Of each argument."""
MOST_PROGRAMS = 4096  # that are kept; the oldest goes
NUMBERS = (int, float, bool)
PLAIN = frozenset([*NUMBERS, str, type(None), type, np.dtype])
"""Types of arguments that are part of a program."""
_programs: dict[tuple[Any, ...], Program | None] = {}


def call(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], scalars: bool) -> Any:
    """``f(*args, **kwargs)`` of arrays whose elements are known; None where it must be recorded.

    ``scalars``: a number beside an array is an argument of the program, and no part of it.
    """
    data: list[Any] = []
    key: list[Any] = [f]
    for x in args:
        kind = x.__class__
        if kind is Array:
            value = x.value
            if value is None or value.size > MOST_ELEMENTS or (x._record is not None and x._record.variables):
                return None
            data.append(value)
            key += (value.dtype, value.shape)
        elif scalars and kind in NUMBERS:
            data.append(x)
            key.append(kind)
        elif kind in PLAIN or (kind is tuple and all(n.__class__ is int for n in x)):
            key += (kind, _distinct(x))
        else:
            return None
    if not data or (kwargs and not _add_keywords(key, kwargs)):
        return None
    found = tuple(key)
    program = _programs.get(found)
    if program is None:
        program = None if found in _programs else _made(f, args, kwargs, scalars, found)
    try:
        return None if program is None else program(data)
    except MemoryError:
        return None  # recording it says what is wrong


def _add_keywords(key: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether all keyword arguments can be part of a program's key; adds them to it."""
    for name, x in kwargs.items():
        if x.__class__ not in PLAIN and not (x.__class__ is tuple and all(n.__class__ is int for n in x)):
            return False
        key += (name, x.__class__, _distinct(x))
    return True


def _distinct(x: Any) -> Any:
    """A number as part of a key, in which -0.0 differs from 0.0."""
    return repr(x) if x.__class__ is float and not x else x


def _made(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], scalars: bool, key: tuple[Any, ...]
) -> Program | None:
    if len(_programs) >= MOST_PROGRAMS:
        del _programs[next(iter(_programs))]
    _programs[key] = None  # while it is made, and where that fails: recording says what is wrong
    with contextlib.suppress(InputError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        _programs[key] = _program(f, args, kwargs, scalars)
    return _programs[key]


def _program(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], scalars: bool) -> Program | None:
    arrays = [x.element for x in args if isinstance(x, Array)]
    beside = dtypes.promote(*arrays)
    given: list[Any] = []
    for x in args:
        if isinstance(x, Array):
            given.append(Array(new_argument(x.element, x.shape, True)))
        elif scalars and isinstance(x, NUMBERS):
            given.append(Array(new_argument(dtypes.of_scalar_beside(x, beside), (), True)))
        else:
            given.append(x)
    result = f(*given, **kwargs)
    several = isinstance(result, list | tuple)
    results = list(result) if several else [result]
    if not results or any(type(x) is not Array for x in results) or any(x is y for x in results for y in given):
        return None
    inputs = {f"x{n}": x.record for n, x in enumerate(x for x in given if isinstance(x, Array))}
    imported = import_trace(inputs, {f"y{n}": x.record for n, x in enumerate(results)}, "eager")
    run = interpreted(imported.module, imported.weights)
    types = [x.dtype for x in given if isinstance(x, Array)]
    if any(isinstance(x, NUMBERS) for x in args) and scalars:
        run = _with_numbers(run, types)
    of, asarray = Array.of, np.asarray
    if several:
        kind = type(result)
        return lambda data: kind([of(asarray(y)) for y in run(data)])
    return lambda data: of(asarray(run(data)[0]))


def _with_numbers(run: Interpreted, types: Sequence[np.dtype[Any]]) -> Interpreted:
    """The data with Python's numbers replaced by arrays."""

    def converted(data: Sequence[Any]) -> Sequence[Any]:
        pairs = zip(data, types, strict=True)
        return run([x if x.__class__ is np.ndarray else np.asarray(x, t) for x, t in pairs])

    return converted
