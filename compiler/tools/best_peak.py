"""The best peak rates that were seen of a CPU: what is measured while other programs run is too low.

They are kept in the cache's folder, by the CPU's model and the number of threads.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path

from mlc.driver.artifact.output_files import write_bytes
from mlc.driver.cache.ownership import make_private, problem
from mlc.driver.toolchain.c_compiler import allowed_cpus
from mlc.errors import MlcError
from mlc.options import environment
from mlc.target.host import cpu_model
from mlc.tools.peak import Peak

FILE = "peaks.json"
Rates = dict[str, list[float]]


def best_of(measured: Peak, threads: int) -> Peak:
    """The better of the measured and the remembered rate, for each rate. The result is remembered."""
    root = environment().cache_dir
    if root is None:
        return measured
    kept, key = _kept(root / FILE), f"{cpu_model()}, {threads or allowed_cpus()} threads"
    before = kept.get(key, [0.0, 0.0])
    best = [max(before[0], measured.flops), max(before[1], measured.bytes)]
    if best != before:
        with suppress(MlcError, OSError):  # a folder that cannot be written to is no reason not to measure
            make_private(root)
            write_bytes(root / FILE, f"{json.dumps({**kept, key: best}, indent=1)}\n".encode())
    return Peak(best[0], best[1], measured.source)


def _kept(path: Path) -> Rates:
    """The rates in a file. Empty for a file that is damaged, or that another user could have written."""
    try:
        content = {} if not path.exists() or problem(path) else json.loads(path.read_text())
        return {key: [float(a), float(b)] for key, (a, b) in content.items() if math.isfinite(a) and math.isfinite(b)}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
