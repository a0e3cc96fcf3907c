"""Expressions over dimension names, such as ``"2*seq + 1"``, evaluated without ``eval``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from mlc.errors import InputError
from mlc.expressions import parse_expression

_MAX_LENGTH = 100_000
_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_CALLS: dict[str, Callable[..., int]] = {"max": max, "min": min}


def evaluate(expression: int | str, dims: Mapping[str, int]) -> int:
    """Returns the value of an expression of integers, names, ``+ - * // %``, ``max`` and ``min``; division floors.

    Raises InputError if the text is anything else, names an unknown dimension, or divides by zero.
    """
    if isinstance(expression, int):
        return expression
    try:
        return _value(_parse(expression), dims)
    except (ValueError, TypeError, ZeroDivisionError, RecursionError) as error:
        raise InputError(f"Cannot evaluate the dimension expression {_short(expression)}: {error}") from None


def names(expression: int | str) -> set[str]:
    """Returns the dimension names that an expression uses."""
    if isinstance(expression, int):
        return set()
    try:
        nodes = ast.walk(_parse(expression))
    except ValueError as error:
        raise InputError(f"Cannot read the dimension expression {_short(expression)}: {error}") from None
    return {node.id for node in nodes if isinstance(node, ast.Name)} - _CALLS.keys()


@lru_cache(maxsize=4096)
def _parse(expression: str) -> ast.expr:
    if len(expression) > _MAX_LENGTH:
        raise ValueError("it is too long")
    try:
        return parse_expression(expression.strip())
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError("it is not an arithmetic expression") from None


def _value(node: ast.expr, dims: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            return _lookup(name, dims)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, dims)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, dims), _value(right, dims))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args, keywords=[]) if name in _CALLS:
            return _CALLS[name]([_value(arg, dims) for arg in args])
    raise ValueError(f"{type(node).__name__} is not allowed in it")


def _lookup(name: str, dims: Mapping[str, int]) -> int:
    if name not in dims:
        raise ValueError(f"The dimension '{name}' is not known")
    return dims[name]


def _short(expression: str) -> str:
    return repr(expression if len(expression) <= 80 else expression[:77] + "...")


def with_numbers(kernel: Mapping[str, Any], dims: Mapping[str, int]) -> dict[str, Any]:
    """Returns a kernel's entry of the signature with its ``flops`` and ``bytes`` for these dimensions."""
    counts = {key: evaluate(kernel[key], dims) for key in ("flops", "bytes") if key in kernel}
    return {**kernel, **counts}
