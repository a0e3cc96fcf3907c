"""Expressions over dimension names: parsing from any thread, and which names generated code uses itself.

A leaf, as ``mlc.errors`` is: ``mlc.runtime`` needs no part of the compiler.
"""

from __future__ import annotations

import ast
import keyword
import re
from threading import Lock

_lock = Lock()
# Names of iterators, run-time dimensions, loop indices and run-time scalars.
_ITERATOR = re.compile(r"[a-z]{1,2}\d*|size\d+|room\d+|value\d+|step\d+|branch\d+|state\d+|max|min|inf|nan")
# Words of C and names of the generated code, whose variables symbols become.
_RESERVED = """
    auto char const default double do else enum extern float goto inline int long register restrict return short signed
    sizeof static struct switch typedef union unsigned void volatile dim buf tid threads NULL
    offset host place shape bytes arena mark part
"""


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of a Python expression.

    One thread at a time: before CPython 3.11.8, all threads count the depth of ``ast.parse`` in one variable, and where
    the garbage collector switches threads within it, it raises SystemError (python/cpython#106905).

    Raises:
        SyntaxError: not an expression, or brackets nested deeper than CPython's parser allows.
    """
    with _lock:
        return ast.parse(text, mode="eval").body


def is_reserved(name: str) -> bool:
    """Whether generated code uses the name itself, so that a dimension of this name becomes ``name_``."""
    return bool(_ITERATOR.fullmatch(name)) or keyword.iskeyword(name) or name in _RESERVED.split()


def source_names(text: str) -> str:
    """An expression with the names of dimensions as the user wrote them, and brackets only where they say something:
    ``((s_)//(2))`` is ``(s//2)``."""
    named = re.sub(r"\b([A-Za-z]\w*)_\b", lambda found: found[1] if is_reserved(found[1]) else found[0], text)
    return re.sub(r"(?<!\w)\((\w+)\)", r"\1", named)
