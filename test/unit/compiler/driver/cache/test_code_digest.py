"""Digests of functions: equal for equal code, whatever file and line; another for an edit of what it does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlc.driver.cache import code_digest

BASE = """
import math
import functools
import numpy as np
from numpy.linalg import norm

FACTOR = 3
TABLE = {"a": [1.5, 2.5], "b": (1, "x")}
ARRAY = np.arange(3.0)

class Scale:
    by = 2
    def __call__(self, x):
        return x * self.by

SCALE = Scale()

def helper(x):
    return math.sin(x) + FACTOR

def made(step):
    def inner(x, *, bias=1):
        return helper(x) * step + bias + TABLE["a"][0] + ARRAY[0] + SCALE(x) + norm([x])
    return inner

@functools.lru_cache
def cached(x):
    return x + 1

def unused(x):
    return x

operator = made(5)

def second(x):
    return [operator(y) for y in cached(x)]
"""


def function(text: str, name: str = "second") -> Callable[..., Any]:
    space: dict[str, Any] = {"__name__": "user_operators"}
    exec(compile(text, "user_operators.py", "exec"), space)
    return space[name]


def test_the_same_code_has_the_same_digest() -> None:
    digest = code_digest.of(function(BASE))
    assert digest == code_digest.of(function(BASE))
    assert digest == code_digest.of(function("# a comment\n\n" + BASE.replace("return x\n", "return x  # another\n")))
    unused = "def unused(x):\n    return "
    assert digest == code_digest.of(function(BASE.replace(f"{unused}x", f"{unused}-x")))


@pytest.mark.parametrize("old, new", [
    ("FACTOR = 3", "FACTOR = 4"), ("2.5", "2.25"), ('"x"', '"y"'), ("arange(3.0)", "arange(4.0)"), ("by = 2", "by = 3"),
    ("x * self.by", "x / self.by"), ("math.sin", "math.cos"), ("made(5)", "made(6)"), ("bias=1", "bias=2"),
    ("return x + 1", "return x + 2"), ("* step", "- step"), ("operator(y) for", "-operator(y) for"),
])  # fmt: skip
def test_an_edit_changes_it(old: str, new: str) -> None:
    assert old in BASE
    assert code_digest.of(function(BASE)) != code_digest.of(function(BASE.replace(old, new, 1)))


def test_modules_of_the_user_are_followed(tmp_path: Path) -> None:
    """Through `import helpers` and through `from helpers import f`, compiled just now or loaded from a .pyc file."""
    code = "import {0}, sys; from mlc.driver.cache import code_digest; print(code_digest.of({0}.operator))"

    def digest(module: str) -> str:
        command = [sys.executable, "-c", code.format(module)]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    (tmp_path / "whole.py").write_text("import helpers\ndef operator(x): return helpers.f(x)\n")
    (tmp_path / "part.py").write_text("from helpers import f\ndef operator(x): return f(x)\n")
    (tmp_path / "helpers.py").write_text("K = frozenset({'a', 'b', 'c'})\ndef f(x): return x in K or x in {'d', 'e'}\n")
    before = {module: [digest(module) for _ in range(3)] for module in ("whole", "part")}
    assert all(len(set(found)) == 1 for found in before.values())
    (tmp_path / "helpers.py").write_text("K = frozenset({'a', 'b'})\ndef f(x): return x in K or x in {'d', 'e'}\n")
    assert all(digest(module) != found[0] for module, found in before.items())


def test_recursion_and_bound_methods_end() -> None:
    text = "def f(x): return g(x)\ndef g(x): return f(x)\nclass C:\n  def m(self): return self.m()\nmethod = C().m\n"
    assert code_digest.of(function(text, "f")) != code_digest.of(function(text, "g"))
    assert code_digest.of(function(text, "method"))
