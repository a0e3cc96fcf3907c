from __future__ import annotations

import sys
from pathlib import Path

import pytest
from optimization import unoptimized
from runtime_objects import copied

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """Each test starts with a cache of its own: empty for those of the driver, else with the runtime's objects, and
    beside the test's folder, which is empty."""
    cache = tmp_path / "cache"
    if not request.path.is_relative_to(Path(__file__).parent / "driver"):
        cache = copied(request.getfixturevalue("runtime_objects"), tmp_path.with_name(f"{tmp_path.name}-cache"))
    monkeypatch.setenv("MLC_CACHE_DIR", str(cache))
    for name in ("CC", "MLC_DEBUG", "MLC_CACHE_SIZE", *(() if unoptimized(request.path) else ("MLC_CFLAGS",))):
        monkeypatch.delenv(name, raising=False)
    return cache
