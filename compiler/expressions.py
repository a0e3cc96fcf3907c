"""Expressions over dimension names: parsing from any thread, and which names generated code uses itself.

A leaf, as ``mlc.errors`` is: ``mlc.runtime`` needs no part of the compiler.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable
from threading import Lock

_lock = Lock()
# Names of the IR: iterators, loop indices and run-time scalars; and what no dimension expression can say.
_ITERATOR = re.compile(r"[a-z]{1,2}\d*|inf|nan")
_COMPUTED = re.compile(r"(size|room|value|step|branch|state)\d+|max|min")
# Macros and types of C's headers (`EOF`, `PRId64`, `int8_t`), and names of the C compiler and of mlc's runtime.
_MACRO = re.compile(
    r"_.*|[A-Z][A-Z0-9_]+|I|(PRI|SCN)[A-Za-z0-9]+|(mlc|si|sa|bit|signature|pthread|atomic)_.*|\w+_t|[a-z]+\d+x\d+"
)
# Words of C with GNU's, of its macros in lower case, and names of the generated code, whose variables symbols become.
_WORDS = """
    alignas alignof asm auto bool case char const constexpr default double do else enum extern false float fortran goto
    inline int long nullptr register restrict return short signed sizeof static static_assert struct switch thread_local
    true
    typedef typeof typeof_unqual union unsigned void volatile
    assert errno i386 linux math_errhandling stderr stdin stdout unix
    dim buf tid threads end host offset shape place bytes arena mark part
"""
_RESERVED = frozenset(_WORDS.split())


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
    """Whether generated code uses the name itself, so that a dimension of this name becomes ``name_``. So is ``name_``,
    and no two names become one.
    """
    stem = name.rstrip("_") or name
    used = _ITERATOR.fullmatch(stem) or _MACRO.fullmatch(stem) or stem in _RESERVED
    return bool(used) or _is_unspeakable(stem)


def _is_unspeakable(name: str) -> bool:
    """Whether a name cannot stand in an expression, or means something else in a model's signature."""
    return keyword.iskeyword(name) or bool(_COMPUTED.fullmatch(name))


def source_names(text: str) -> str:
    """An expression with the names of dimensions as the user wrote them, and brackets only where they say something:
    ``((s_)//(2))`` is ``(s//2)``."""
    return _without_brackets(_renamed(text, is_reserved))


def signature_names(text: str) -> str:
    """An expression as a model's signature has it: with the user's names, unless an expression cannot have them, as
    ``if``."""
    return _renamed(text, lambda name: is_reserved(name) and not _is_unspeakable(name.rstrip("_")))


def shown_names(text: str) -> str:
    """An expression of a model's signature, for people: ``if_`` is ``if``."""
    return _without_brackets(_renamed(text, lambda name: _is_unspeakable(name.rstrip("_"))))


def _renamed(text: str, is_changed: Callable[[str], bool]) -> str:
    """The expression with its changed names restored: without their last ``_``."""
    return re.sub(r"\b([A-Za-z_]\w*)_\b", lambda found: found[1] if is_changed(found[1]) else found[0], text)


def _without_brackets(text: str) -> str:
    return re.sub(r"(?<!\w)\((\w+)\)", r"\1", text)
