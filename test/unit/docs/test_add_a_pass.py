"""docs/howto/add-a-pass.md runs as written."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "add-a-pass.md"


def test_the_example_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    page = ModuleType("add_a_pass")
    monkeypatch.setitem(sys.modules, page.__name__, page)  # dataclasses look their module up
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), vars(page))
    tests = [value for name, value in vars(page).items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()
