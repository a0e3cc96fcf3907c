"""Blocks of nest fusion: one point each, except where a register tile of a sum needs several rows."""

from __future__ import annotations

import re

import pytest

from benchmarks import models
from mlc import target
from mlc.driver.lower import lower
from mlc.frontends.onnx import import_model
from mlc.options import Options


@pytest.mark.parametrize("name", ["x86-64-v3", "x86-64-v4"])
def test_the_step_of_an_lstm_is_one_tile_and_its_gates(name: str) -> None:
    """Gates are elementwise: rows of several tiles read nothing twice, and waited for all of them (0.96 as fast)."""
    imported = import_model(models.build("lstm", steps=3, layers=1).SerializeToString(), {})
    options = Options(target=target.get(name))
    text = str(lower(imported.module, imported.weights, options, "schedule").module)
    (step,) = [found for found in re.findall(r'schedule<"([^"]*)">', text) if "@" in found]
    assert step.startswith("contraction: ") and "& elementwise: " in step
    assert re.findall(r"@\d+(t?)", step) == ["", ""]
