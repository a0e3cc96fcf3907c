"""The runtime's objects for caches that begin empty: they are the same for all models, and take the C compiler half a
second."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import find
from mlc.driver.toolchain.link import compiled_runtime
from mlc.options import Options

LEVELS = ("", "-O0")  # of optimization (``optimization.py``)


@pytest.fixture(scope="session")
def runtime_objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has these objects and nothing else, compiled once a worker; empty without a C compiler."""
    root, options = tmp_path_factory.mktemp("runtime") / "cache", Options()
    root.mkdir(mode=0o700)
    for flags in LEVELS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MLC_CFLAGS", flags)
            with compiled_runtime(options, find(None, options.target), Cache(root)):
                pass
    return root


def copied(runtime_objects: Path, cache: Path) -> Path:
    """A new cache with the same entries."""
    return Path(shutil.copytree(runtime_objects, cache, copy_function=os.link))
