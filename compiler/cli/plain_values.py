"""Values of the command line converted without pydantic.

Typer (0.29) converts each value by a validator of pydantic, whose import takes 0.15 CPU seconds: more than all else of
a compilation from the cache. Here is what values of plain types become. Others, and wrong ones, are left to typer, as
are all where a typer of another version has no such attribute.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin


class _Other(Exception):
    """A value that needs typer's own conversion."""


class PlainValues:
    """Converts the values of one parameter, in the place of typer's ``RuntimeParam``."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        try:
            return _converted(value, param.type_descriptor.annotation, param.type_descriptor.parameter_info)
        except _Other:
            param._runtime_param = None
            return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def use_plain_values(command: Any) -> None:
    """Let the parameters of a command, and of those below it, convert plain values without pydantic."""
    for each in _below(command):
        each.get_params = partial(_plain, each.get_params)  # with the option --help, which is made when asked for


def _plain(params_of: Callable[[Any], list[Any]], context: Any) -> list[Any]:
    params = params_of(context)
    for param in params:
        if hasattr(param, "type_descriptor") and getattr(param, "_runtime_param", 0) is None:
            param._runtime_param = PlainValues()
    return params


def _below(command: Any) -> Iterator[Any]:
    yield command
    for each in getattr(command, "commands", {}).values():
        yield from _below(each)


def _converted(value: Any, annotation: Any, about: Any) -> Any:
    """The value as the type ``annotation``; ``about`` is typer's description of the parameter."""
    if about.parser is not None:
        raise _Other
    if get_origin(annotation) is list and isinstance(value, list | tuple):
        return [_converted(each, get_args(annotation)[0], about) for each in value]
    if annotation is bool and isinstance(value, bool):
        return value
    if get_origin(annotation) is Literal and value in get_args(annotation):
        return value
    if annotation is str and isinstance(value, str):
        return value
    if annotation is Path and isinstance(value, str | Path):
        return _path(value, about)
    if annotation in (int, float):
        return _number(value, annotation, about)
    raise _Other


def _path(value: str | Path, about: Any) -> Path:
    unreadable = os.path.exists(value) and not os.access(value, os.R_OK)
    if about.exists or about.resolve_path or about.writable or unreadable:
        raise _Other
    return Path(value)


def _number(value: Any, kind: type[int | float], about: Any) -> int | float:
    pattern = r"-?[0-9]{1,18}" if kind is int else r"-?[0-9]{1,18}(\.[0-9]{1,18})?"
    if not (type(value) is kind or (isinstance(value, str) and re.fullmatch(pattern, value))):
        raise _Other
    number = kind(value)
    if (about.min is not None and number < about.min) or (about.max is not None and number > about.max):
        raise _Other
    return number
