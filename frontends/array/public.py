"""Public functions: an error that Python raises for a wrong argument becomes one that names the function and its
arguments.

Checks at the place say most. What is left are arguments such as an axis that is a list of arrays, or ``rng="seed"``.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import optree

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.record import is_inside

PYTHONS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""What Python, NumPy and optree raise for arguments that a function does not expect."""
LIBRARIES = tuple(os.path.dirname(each.__file__ or "") + os.sep for each in (np, optree))
STANDARD = os.path.dirname(os.__file__) + os.sep


class ArgumentError(InputError, TypeError, ValueError, IndexError):
    """A function cannot take these arguments; also Python's errors, as those of the Array API standard."""


class Deferred:
    """A stand-in for an array that does not exist yet, such as a node of a graph. A call on it is recorded."""

    def deferred(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The stand-in for the result of ``f(*args, **kwargs)``."""
        raise NotImplementedError

    def deferred_module(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The stand-in for the result of ``module(*args, **kwargs)``."""
        raise NotImplementedError


def deferred_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Deferred | None:
    """The first stand-in among the arguments, also within lists and keywords."""
    leaves: list[Any] = optree.tree_leaves((args, kwargs))  # type: ignore[arg-type]
    return next((x for x in leaves if isinstance(x, Deferred)), None)


Eager = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""The value of a call, or None where it is to be recorded."""


def public(name: str, f: Callable[..., Any], eager: Eager | None = None) -> Callable[..., Any]:
    """``f`` as ``name``, such as ``mlc.numpy.sum``: raises ArgumentError in place of Python's errors.

    Errors of the user's own code, which a function may call, stay. ``eager`` is asked first.
    """

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if eager is not None and (at_once := eager(f, args, kwargs)) is not None:
            return at_once
        try:
            found: Any = f(*args, **kwargs)
            apart = args and found is args[0] and isinstance(found, Array) and not name.endswith(".asarray")
            return found.same() if apart else found  # x[k] = v changes no other array
        except (*PYTHONS, InputError) as error:
            if (stands := deferred_in(args, kwargs)) is not None:
                return stands.deferred(checked, args, kwargs)
            within = isinstance(error, ArgumentError) and error.__cause__  # of a function that this one calls
            if (isinstance(error, InputError) and not within) or _of_user(error.__traceback__):
                raise
            cause = within or error
            raise _explained(name, f, args, kwargs, cause) from cause

    checked.__module__, _, checked.__qualname__ = name.rpartition(".")  # where pickle finds it
    return checked


def publish(namespace: dict[str, Any], names: Iterable[str], module: str = "") -> None:
    """Replace the functions of a module's ``names`` by public ones; ``module`` is where users find them."""
    module = module or namespace["__name__"]
    namespace.update({n: public(f"{module}.{n}", namespace[n]) for n in names if inspect.isfunction(namespace[n])})


def publish_methods(cls: type, module: str = "mlc.nn", names: Iterable[str] = ("__init__", "__call__")) -> None:
    """Make methods of a class public, its constructor and its call."""
    for name in names:
        if name in vars(cls):
            shown = cls.__name__ if name == "__init__" else f"{cls.__name__}.{name}"
            method = public(f"{module}.{shown}", vars(cls)[name])
            method.__module__, method.__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)


def _of_user(trace: TracebackType | None) -> bool:
    return not all(_is_library(frame.f_code.co_filename) or _is_generated(frame) for frame, _ in walk_tb(trace))


def _is_generated(frame: FrameType) -> bool:
    """Whether the code is a method that ``dataclass`` has written for a class of mlc."""
    return frame.f_code.co_filename == "<string>" and str(frame.f_globals.get("__name__")).startswith("mlc.")


@functools.cache
def _is_library(file: str) -> bool:
    standard = file.startswith(STANDARD) and "site-packages" not in file
    return is_inside(file) or standard or file.startswith(LIBRARIES) or file.endswith(".pyx")


def _explained(
    name: str, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: BaseException
) -> ArgumentError:
    own = next(iter(inspect.signature(f).parameters), "") == "self"
    given = [_shown(x) for x in args[own:]] + [f"{key}={_shown(x)}" for key, x in kwargs.items()]
    says = str(error).rstrip(".") or type(error).__name__
    what = f"{name}({', '.join(given)}): {says}"
    if kwargs.get("out") is not None:
        return ArgumentError(f"{name} has no out=: a result is a new array", hint="Write x[...] = f(...)")
    return ArgumentError(what, hint=f"Its parameters: {name.rpartition('.')[2]}{_parameters(f)}")


def _parameters(f: Callable[..., Any]) -> str:
    """``(x, /, *, k=0)``: the signature without types, which strings of annotations make long."""
    given = inspect.signature(f)
    empty = inspect.Parameter.empty
    kept = [each.replace(annotation=empty) for each in given.parameters.values() if each.name != "self"]
    return str(given.replace(parameters=kept, return_annotation=empty))


def _shown(value: Any) -> str:
    """The text of an argument: its repr where that is short, else its type and shape."""
    if isinstance(value, Array):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"ndarray {value.dtype}{list(value.shape)}"
    if isinstance(value, list | tuple) and any(isinstance(x, Array | np.ndarray) for x in value):
        return f"{type(value).__name__} of {', '.join(map(_shown, value[:3]))}{', …' if len(value) > 3 else ''}"
    text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"
