"""Fixtures of the tests of the CUDA target."""

import sys
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("conformance", "fuzz")]
sys.path += [str(Path(__file__).parents[1] / "unit/frontends/array" / folder) for folder in ("", "transforms")]
from fake_gpu import built, gpu

__all__ = ["built", "gpu"]


@pytest.fixture(scope="session")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of compiled units, which equal kernels share."""
    return tmp_path_factory.mktemp("units")
