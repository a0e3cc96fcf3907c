"""Digests of Python functions as they are loaded, so that an edited operator of a user gives another cache key.

A function is its byte code, without line numbers, its defaults, the variables that it captures, and what its code names
among the globals: functions, classes and constants, and so on from there. What the cache key has otherwise (mlc, the
packages that it names, Python's own library) counts by name, other installed packages by name and version.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

KNOWN = {"mlc", "numpy", "onnx", "xdsl", "islpy", "builtins"} | sys.stdlib_module_names
INSTALLED = ("site-packages", "dist-packages")


def of(function: Callable[..., Any]) -> str:
    """The digest of a function and all that it reaches."""
    walk = _Walk(str(getattr(function, "__module__", "")).partition(".")[0])
    walk.value(function, ())
    return walk.hash.hexdigest()


class _Walk:
    """Visits values depth first; ``home`` is the package that is looked into even where it is installed."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.hash = hashlib.blake2b(digest_size=16)
        self.seen: dict[tuple[int, tuple[str, ...]], Any] = {}  # values by id; kept, so that no id is used twice

    def value(self, value: Any, names: Iterable[str]) -> None:
        """Visit a value. ``names`` are the names in the code that holds it, by which the code may reach attributes."""
        self.say(type(value).__qualname__)
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            self.say(repr(value))
        elif isinstance(value, tuple | frozenset | CodeType):
            self.compound(value, names)  # equal ones are sometimes one object, which must not matter
        elif (id(value), seen_by := tuple(names) if isinstance(value, ModuleType) else ()) in self.seen:
            self.say("again")
        else:
            self.seen[id(value), seen_by] = value
            self.compound(value, names)

    def compound(self, value: Any, names: Iterable[str]) -> None:
        match value:
            case CodeType():
                self.code(value)
            case ModuleType():
                self.module(value, names)
            case FunctionType() | type():
                self.named(value)
            case MethodType():
                self.values((value.__func__, value.__self__))
            case functools.partial():
                self.values((value.func, value.args, value.keywords))
            case tuple() | list():
                self.values(value)
            case set() | frozenset():
                self.values(sorted(value, key=repr))
            case dict():
                self.values(item for pair in value.items() for item in pair)
            case _ if _is_array(value) and not value.dtype.hasobject:
                self.values((value.dtype.str, value.shape, value.tobytes()))
            case _:
                self.instance(value)

    def values(self, values: Iterable[Any]) -> None:
        for value in values:
            self.value(value, ())

    def say(self, text: str) -> None:
        self.hash.update(f"{len(text)}:".encode() + text.encode(errors="surrogatepass"))

    def instance(self, value: Any) -> None:
        """Visit an object: its attributes where the class is the user's own, else its text, and the function that a
        decorator wraps.
        """
        self.value(type(value), ())
        if not self.version(type(value).__module__):
            self.value(vars(value) if hasattr(value, "__dict__") else None, ())
        elif " at 0x" not in (text := repr(value)):
            self.say(text)
        self.value(getattr(value, "__wrapped__", None), ())

    def named(self, value: Any) -> None:
        """Visit a function or a class: its code where it is the user's own, else its name and version."""
        self.say(f"{value.__module__}.{value.__qualname__}")
        if version := self.version(str(value.__module__)):
            self.say(version)
        elif isinstance(value, type):
            has = {name: value for name, value in vars(value).items() if name not in ("__dict__", "__weakref__")}
            self.values((value.__bases__, has))
        else:
            self.function(value)

    def module(self, module: ModuleType, names: Iterable[str]) -> None:
        self.say(module.__name__)
        if version := self.version(module.__name__):
            self.say(version)
        else:
            for name in (name for name in sorted(names) if name in vars(module)):
                self.say(name)
                self.value(vars(module)[name], names)

    def version(self, module: str) -> str:
        """The version of a package that is not visited; empty for the user's own code."""
        top = module.partition(".")[0]
        if top in KNOWN:
            return "known"
        home = sys.modules.get(top)
        installed = any(part in str(getattr(home, "__file__", "")) for part in INSTALLED)
        return str(getattr(home, "__version__", "installed")) if installed and top != self.home else ""

    def function(self, function: FunctionType) -> None:
        names = sorted(set(_names(function.__code__)))
        self.value(function.__code__, names)
        self.values((function.__defaults__, function.__kwdefaults__))
        for value in _captured(function):
            self.value(value, names)
        for name in (name for name in names if name in function.__globals__):
            self.say(name)
            self.value(function.__globals__[name], names)

    def code(self, code: CodeType) -> None:
        self.values((code.co_code, code.co_exceptiontable, code.co_names, code.co_varnames, code.co_freevars))
        self.values((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags))
        self.values(code.co_consts)


def _names(code: CodeType) -> Iterable[str]:
    """The globals and attributes that code names, within nested functions too."""
    yield from code.co_names
    for nested in code.co_consts:
        if isinstance(nested, CodeType):
            yield from _names(nested)


def _captured(function: FunctionType) -> Iterable[Any]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # the variable has no value yet
            yield cell.cell_contents


def _is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy: none is where nobody has imported that."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)
