"""``benchmarks.growth`` has models of the sizes it says, and its seconds are those of the stages."""

from __future__ import annotations

import onnx
import pytest

from benchmarks.growth import COLUMNS, row, seconds
from benchmarks.models.growing import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_models_are_valid_and_grow(kind: str) -> None:
    small, large = (KINDS[kind].make(size) for size in (8, 24))
    onnx.checker.check_model(small, full_check=True)
    assert large.ByteSize() > 1.5 * small.ByteSize()


def test_a_row_has_all_stages() -> None:
    found = seconds("diamond", 14)
    assert set(found) <= {*COLUMNS} and found["C compiler"] > 0
    assert found["CPU"] > 0
    assert len(row("diamond", 14, found).split()) == 2 + len(COLUMNS)
