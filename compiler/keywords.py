"""Keyword arguments that a function does not have: an error that names those it has."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

from mlc.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")
NAMED = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def keywords_checked(*forwarded: Callable[..., object]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: unknown keyword arguments are an ``InputError`` in place of Python's ``TypeError``.

    ``forwarded``: the functions that ``**options`` go to, whose parameters are known as well.

    Raises:
        InputError: when called: names the unknown one, a similar one, and all options.
    """

    def decorate(f: Callable[P, R]) -> Callable[P, R]:
        accepted = _named(f) + [name for each in forwarded for name in _named(each)]
        options = _named(f, NAMED[:1]) + [name for each in forwarded for name in _named(each)]

        @functools.wraps(f)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in accepted:
                    raise _unknown(f.__qualname__.removesuffix(".__init__"), name, options)
            return f(*args, **kwargs)

        return checked

    return decorate


def _named(f: Callable[..., object], kinds: tuple[object, ...] = NAMED) -> list[str]:
    return [name for name, each in inspect.signature(f).parameters.items() if each.kind in kinds and name != "self"]


def _unknown(what: str, name: str, options: list[str]) -> InputError:
    near = get_close_matches(name, options, 1)
    guess = f"Did you mean '{near[0]}'? " if near else ""
    return InputError(f"{what} has no option '{name}'", hint=f"{guess}Options: {', '.join(options)}")
