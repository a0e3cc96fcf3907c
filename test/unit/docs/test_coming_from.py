"""Programs of the pages for users of other libraries run as they are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import mlc

DOCS = Path(__file__).parents[3] / "docs"
PAGES = sorted((DOCS / "coming-from").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
NET = '<ir_version: 8, opset_import: ["" : 17]> net (float[2,3] x) => (float[2,3] y) { y = Relu (x) }'


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_programs_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.parser.parse_model(NET), "net.onnx")
    names: dict[str, Any] = {"x": np.float32([[-1, 2, 3], [4, -5, 6]])}
    blocks = BLOCK.findall(page.read_text())
    assert blocks
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


def test_names_of_the_tables_exist() -> None:
    """``mlc.…``, ``nn.…`` and ``mnp.…`` in the columns of mlc."""
    text = "\n".join(page.read_text() for page in PAGES)
    columns = "\n".join(re.findall(r"^\|.*?\|(.*)\|$", text, re.M))
    found = set(re.findall(r"`(?:mlc\.)?((?:nn|optim|train|mnp)\.\w+|(?<=mlc\.)\w+)", columns))
    assert len(found) > 15
    import mlc.numpy as mnp
    from mlc import nn, optim, train

    modules = {"nn": nn, "optim": optim, "train": train, "mnp": mnp}
    missing = []
    for each in found:
        place, _, name = each.rpartition(".")
        missing += [] if hasattr(modules.get(place, mlc), name) else [each]
    assert not missing
