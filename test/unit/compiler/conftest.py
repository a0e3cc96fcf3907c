from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test starts with an empty cache of its own."""
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("CC", "MLC_DEBUG", "MLC_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"
