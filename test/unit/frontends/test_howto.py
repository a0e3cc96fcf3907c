"""docs/howto/add-a-frontend.md and docs/howto/add-an-operator.md run as written."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from single import agrees

from mlc.cli import main
from mlc.driver import sources
from mlc.frontends.onnx.node import REGISTRY
from mlc.frontends.onnx.ops import load_all

HOWTO = Path(__file__).parents[3] / "docs" / "howto"


def page(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The Python of a page, run in order."""
    path = HOWTO / f"{name}.md"
    found = ModuleType(name.replace("-", "_"))
    monkeypatch.setitem(sys.modules, found.__name__, found)  # dataclasses look their module up
    for block in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S):
        exec(compile(block, str(path), "exec"), vars(found))
    return found


@pytest.fixture
def registry() -> Iterator[dict[Any, Any]]:
    """The operators that are registered; what a test registers goes afterwards."""
    load_all()
    before = {name: list(versions) for name, versions in REGISTRY.items()}
    yield REGISTRY
    REGISTRY.clear()
    REGISTRY.update(before)


def test_a_frontend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sources, "OF_SUFFIX", dict(sources.OF_SUFFIX))
    module = page("add-a-frontend", monkeypatch)
    tests = [value for name, value in vars(module).items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test(tmp_path)
    assert ended(["inspect", str(tmp_path / "network.layers")]) == 0
    assert "operators  relu 1, tanh 1" in capsys.readouterr().out
    assert ended(["check", str(tmp_path / "broken.layers")]) != 0
    assert "no network of dense layers" in "".join(capsys.readouterr())


def ended(args: list[str]) -> Any:
    """The exit status of the command line."""
    with pytest.raises(SystemExit) as status:
        main(args)
    return status.value.code


def test_operators(monkeypatch: pytest.MonkeyPatch, registry: dict[Any, Any]) -> None:
    page("add-an-operator", monkeypatch)
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    y, cubic = x / np.sqrt((x * x).sum(1, keepdims=True)), x**3
    assert registry["", "LpNormalization"][-1][1].__module__ == "add_an_operator"
    agrees("LpNormalization", {"x": x}, wanted=[y], axis=1)
    agrees("Cube", {"x": x}, wanted=[cubic], domain="com.example", version=1)
    above, one = np.where(x > 0.5, cubic, 0), np.where(x > 1, cubic, 0)
    agrees("ThresholdedCube", {"x": x}, wanted=[above], domain="com.example", version=2, alpha=0.5)
    agrees("ThresholdedCube", {"x": x}, wanted=[one], domain="com.example", version=1)
