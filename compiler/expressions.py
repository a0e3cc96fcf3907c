"""Parsing of text as a Python expression, from any thread.

A leaf, as ``mlc.errors`` is: ``mlc.runtime`` needs no part of the compiler.
"""

from __future__ import annotations

import ast
from threading import Lock

_lock = Lock()


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of a Python expression.

    One thread at a time: before CPython 3.11.8, all threads count the depth of ``ast.parse`` in one variable, and where
    the garbage collector switches threads within it, it raises SystemError (python/cpython#106905).

    Raises:
        SyntaxError: not an expression, or brackets nested deeper than CPython's parser allows.
    """
    with _lock:
        return ast.parse(text, mode="eval").body
