"""The pages of public modules: each public name with its signature and docstring."""

from __future__ import annotations

import importlib
import re

import pytest

import mlc
from docs import api_pages


@pytest.mark.parametrize("name", api_pages.MODULES)
def test_each_public_name_is_described(name: str) -> None:
    module = importlib.import_module(name)
    text = api_pages.page(module)
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    wanted = [n for n in getattr(module, "__all__", ()) if not n.startswith("_") and callable(getattr(module, n))]
    missing = {n for n in wanted if api_pages.ours(getattr(module, n))} - set(sections)
    assert text.startswith(f"# {name}\n\n") and not missing, missing
    silent = [
        n
        for n, section in sections.items()
        if not re.sub(r"```python\n.*?```|^### .*", "", section, flags=re.S).strip()
    ]
    assert not silent, silent


def test_sections_become_lists_and_signs_mean_themselves() -> None:
    doc = """The product ``a * b`` of a [n] and b < 2 * c.

    Args:
        a: a vector [n],
            or more.

    Raises:
        InputError: it is none.

        code(a)
    """
    assert (
        api_pages.markdown(doc)
        == r"""The product ``a * b`` of a \[n\] and b \< 2 \* c.


**Args**

- `a`: a vector \[n\],
  or more.


**Raises**

- `InputError`: it is none.

    code(a)"""
    )
    assert "\n## compile\n\n```python\ncompile(model, target='cpu'" in api_pages.page(mlc)
