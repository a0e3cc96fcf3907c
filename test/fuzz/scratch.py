"""A cache for random models: their kernels do not come twice, the runtime's objects always do."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEBIBYTES = "200"


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that goes at the end, with a small cache in it that mlc uses meanwhile."""
    with tempfile.TemporaryDirectory(prefix="mlc-fuzz-") as folder:
        os.environ |= {"MLC_CACHE_DIR": f"{folder}/cache", "MLC_CACHE_SIZE": MEBIBYTES}
        yield Path(folder)
