"""What ``import mlc`` shows: all that the documents name, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import mlc

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", mlc.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(mlc, name) is not None and name in dir(mlc)


def test_every_name_is_typed() -> None:
    """What a type checker sees, imported where ``TYPE_CHECKING``, is what there is."""
    tree = ast.parse((ROOT / "compiler" / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    names = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names == set(mlc.__all__) - {"__version__"}


def test_documents_use_public_names_only() -> None:
    text = "\n".join(path.read_text() for path in [ROOT / "README.md", ROOT / "docs" / "reference" / "python-api.md"])
    used = set(re.findall(r"\bmlc\.([A-Za-z]\w*)\b(?!\.(?:cpu|json))", text)) - {"onnx", "so"}
    packages = {path.parent.name for path in (ROOT / "compiler").glob("*/__init__.py")} | {"frontends", "runtime"}
    assert used <= set(mlc.__all__) | packages | {"errors"}, used - set(mlc.__all__)


def test_errors_are_public() -> None:
    from mlc import errors

    assert {name for name, value in vars(errors).items() if isinstance(value, type)} <= set(mlc.__all__)
