"""The page on ONNX lists the operators of other domains that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlc.frontends.onnx.node import REGISTRY
from mlc.frontends.onnx.ops import load_all
from mlc.frontends.onnx.ops.microsoft.generation.refused import INSTEAD

PAGE = Path(__file__).parents[3] / "docs" / "frontend" / "onnx.md"


@pytest.mark.parametrize("domain", ["ai.onnx.ml", "com.microsoft", "ai.onnx.preview.training"])
def test_operators_of_a_domain_are_listed(domain: str) -> None:
    load_all()
    _, _, rest = PAGE.read_text().partition(f"- `{domain}`")
    listed = set(rest.partition(":")[2].partition(".")[0].replace("\n", " ").replace(" ", "").split(","))
    assert listed >= {name for d, name in REGISTRY if d == domain} - INSTEAD.keys()
