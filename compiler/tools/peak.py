"""The peak rates of this machine, measured: multiply-adds in registers, and reading memory."""

from __future__ import annotations

import ctypes
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mlc import target as targets
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import allowed_cpus, find
from mlc.driver.toolchain.link import link_library
from mlc.errors import ToolchainError
from mlc.target import CpuTarget, GpuTarget, Target
from mlc.tools.cuda_device import NoDevice
from mlc.tools.gpu_peak import measure_gpu_peak

CHAINS = 12  # independent multiply-adds in flight: latency 4 on 2 ports needs 8
ROUNDS = 2_000_000
READ_BYTES = 64 << 20
CACHED, LOW = "caches", "peak too low"


@dataclass(frozen=True)
class Peak:
    """FLOP/s of fp32 multiply-adds (two each) and bytes/s read from memory, in total for all threads; ``source`` says
    how they are known."""

    flops: float
    bytes: float
    source: str = "measured"

    def share(self, flops: float, bytes: float, seconds: float) -> float:
        """The least time this work can take (roofline) over the time it took; above 1 where caches serve the bytes."""
        return max(flops / self.flops, bytes / self.bytes) / seconds

    def share_text(self, flops: float, bytes: float, seconds: float) -> str:
        """``57%``; above 100 with why: caches serve the bytes, or the peak was measured beside other programs."""
        share = self.share(flops, bytes, seconds)
        if share <= 1:
            return f"{share:.0%}"
        return f"{share:.0%} ({CACHED if flops <= self.flops * seconds else LOW})"


def peak_of(target: str, threads: int = 0) -> Peak:
    """The peak rates for an artifact of this target: the best that were measured on this machine; nominal ones of a GPU
    where there is none, or no CUDA compiler."""
    from mlc.tools.best_peak import best_of

    machine = targets.get(target) if target.startswith("cuda") else None
    if not isinstance(machine, GpuTarget):
        return best_of(measure_peak(threads), threads)
    try:
        return Peak(*measure_gpu_peak())
    except (NoDevice, ToolchainError):
        return Peak(machine.flops, machine.memory_bytes, "nominal")


def measure_peak(threads: int = 0, name: str = "cpu") -> Peak:
    """Measure on ``threads`` threads (0: all allowed CPUs) with the instructions of a target; takes about a second."""
    target = targets.get(name)
    assert isinstance(target, CpuTarget)
    threads = threads or allowed_cpus()
    with tempfile.TemporaryDirectory(prefix="mlc-peak-") as folder:
        library = Path(folder) / "peak.so"
        toolchain = find(None, target)
        link_library({"peak.c": _source(target)}, library, target, toolchain, Cache.default())
        code = ctypes.CDLL(str(library))
    multiply_adds = 2 * CHAINS * target.lanes * ROUNDS
    buffers = [ctypes.create_string_buffer(READ_BYTES) for _ in range(threads)]
    fma = _fastest(lambda _: code.peak_fma(ROUNDS), threads)
    read = _fastest(lambda i: code.peak_read(buffers[i], ctypes.c_int64(READ_BYTES)), threads)
    return Peak(threads * multiply_adds / fma, threads * READ_BYTES / read)


def _fastest(work: Callable[[int], object], threads: int) -> float:
    """Seconds of the best of four rounds in which every thread does the work once; ctypes lets them run in parallel."""
    with ThreadPoolExecutor(threads) as pool:
        return min(_timed(lambda: list(pool.map(work, range(threads)))) for _ in range(4))


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _source(target: CpuTarget) -> str:
    """C of the two loops: CHAINS vector accumulators, and a sum of all vectors of a buffer."""
    names = [f"a{i}" for i in range(CHAINS)]
    declared = ", ".join(f"{name} = x + {i}" for i, name in enumerate(names))
    update = " ".join(f"{name} = {name} * x + y;" for name in names)
    # The empty asm keeps the compiler from finding a closed form of the loop.
    fence = "".join(f' __asm__ volatile("" : "+{_register(target)}"({name}));' for name in names)
    return f"""#include <stdint.h>
typedef float vec __attribute__((vector_size({target.vector_bits // 8})));
__attribute__((visibility("default"))) float peak_fma(int rounds) {{
  vec x = (vec){{}} + 0.5f, y = (vec){{}} + 0.25f, {declared};
  for (int i = 0; i < rounds; i++) {{ {update}{fence} }}
  vec sum = {" + ".join(names)};
  return sum[0];
}}
__attribute__((visibility("default"))) float peak_read(const char *buffer, int64_t bytes) {{
  vec a = {{}}, b = {{}}, c = {{}}, d = {{}};
  const vec *end = (const vec *)(buffer + bytes - bytes % (4 * sizeof(vec)));
  struct {{ vec v; }} __attribute__((packed, aligned(1))) const *p = (void *)buffer;
  for (; (const vec *)p < end; p += 4) {{ a += p[0].v; b += p[1].v; c += p[2].v; d += p[3].v; }}
  vec sum = a + b + c + d;
  return sum[0];
}}
"""


def _register(target: Target) -> str:
    """The inline-assembly constraint of a vector register."""
    return "w" if target.arch == "aarch64" else "v"
