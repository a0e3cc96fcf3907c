"""Lists the messages of mlc's errors with their hints: `python test/messages.py [WORD ...]` prints those with a word.

A message is what a call of an error's class says, as its source has it: ``{}`` stands for values, and a name that is
assigned once in the function for its text.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("compiler", "dialects", "frontends", "passes", "runtime")
BUILTIN = {"TypeError", "ValueError", "KeyError", "IndexError", "RuntimeError", "AttributeError", "NotImplementedError",
           "OSError", "OverflowError", "ZeroDivisionError", "AssertionError", "StopIteration", "Exception",
           "MemoryError", "ImportError", "LookupError", "NotSupported"}  # fmt: skip


class Message(NamedTuple):
    """Where it is, the class of its error, what it says, and what it says to do."""

    place: str
    error: str
    text: str
    hint: str


@cache
def messages() -> tuple[Message, ...]:
    """All of them, by file and line; reading them takes seconds."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return tuple(message for path in paths for message in _of_file(path))


def _of_file(path: Path) -> Iterator[Message]:
    tree = ast.parse(path.read_text())
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            names = _assigned(function)
            for call in _own(function):
                if isinstance(call, ast.Call) and (error := _error(call)):
                    named = {k.arg: k.value for k in call.keywords}
                    given, hint = call.args[0] if call.args else named.get("message"), named.get("hint")
                    place = f"{path.relative_to(ROOT)}:{call.lineno}"
                    yield Message(place, error, _text(given, names), _text(hint, names))


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from _own(child)


def _error(call: ast.Call) -> str:
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    return name if name.endswith("Error") or name in BUILTIN else ""


def _assigned(function: ast.AST) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for node in _own(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found


def _text(node: ast.expr | None, names: dict[str, ast.expr], depth: int = 3) -> str:
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, names, depth) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, names, depth - 1) if isinstance(node.value, ast.Name) and depth else "{}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, names, depth) + _text(node.right, names, depth)
    if isinstance(node, ast.IfExp):
        return f"{_text(node.body, names, depth)}⟨or⟩{_text(node.orelse, names, depth)}"
    if isinstance(node, ast.Name) and node.id in names and depth:
        given = _text(names[node.id], names, depth - 1)
        return given if given.strip("{}") else "{}"
    return "{}"


if __name__ == "__main__":
    for each in messages():
        line = f"{each.place}: {each.error}: {each.text} | {each.hint}"
        if all(word.lower() in line.lower() for word in sys.argv[1:]):
            print(line)
