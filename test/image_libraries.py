"""Whether the libraries that ImageDecoder calls are installed: its tests run where they are."""

from __future__ import annotations

import pytest

from mlc import target as targets
from mlc.driver.toolchain.external_libraries import external_flags
from mlc.errors import ToolchainError


def missing() -> str:
    """Why a model with ImageDecoder cannot be compiled for this machine; empty where it can."""
    try:
        external_flags(["image"], targets.get("cpu"))
    except ToolchainError as error:
        return str(error)
    return ""


needed = pytest.mark.skipif(bool(missing()), reason=missing() or "installed")
