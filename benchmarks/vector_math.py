"""Time of the generated code's vector mathematics (runtime/c/vector/mlc_math.h), in ns an element.

    python benchmarks/vector_math.py [--cc gcc] [--march native] [exp tanh ...]

Every function runs over a buffer that fits the L2 cache, against libm called element by element and against NumPy
where it has the function. The best of several repetitions counts.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

HEADERS = Path(__file__).resolve().parents[1] / "runtime" / "c" / "vector"
ELEMENTS = 32768
RANGES = {"log": (1e-3, 50), "log2": (1e-3, 50), "log1p": (-0.9, 50), "sqrt": (0, 50), "rsqrt": (1e-3, 50)}
VECTOR = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "sigmoid", "erf", "sin", "cos",
          "floor", "ceil", "trunc", "roundeven", "round", "sqrt", "rsqrt"]
SCALAR = {"sigmoid": "1.f / (1.f + expf(-x))", "rsqrt": "1.f / sqrtf(x)"}
NUMPY: dict[str, Callable[..., np.ndarray]] = {"roundeven": np.rint} | {
    name: getattr(np, name) for name in VECTOR if hasattr(np, name) and name != "round"}

SOURCE = """
#include "mlc_math.h"
#define LIBM(fn, call) void libm_##fn(const float *a, float *y, long n) { \\
  for (long i = 0; i < n; i++) { float x = a[i]; y[i] = call; } }
#define OURS(fn) void mlc_##fn(const float *a, float *y, long n) { \\
  for (long i = 0; i < n; i += LANES) { \\
    MLC_CAT(f32x, LANES) x; memcpy(&x, a + i, sizeof x); \\
    x = MLC_CAT(mlc_##fn##_f32x, LANES)(x); memcpy(y + i, &x, sizeof x); } }
"""


def lanes(cc: str, march: str) -> int:
    """The number of floats in the widest vector of the target."""
    command = [cc, f"-march={march}", "-dM", "-E", "-x", "c", os.devnull]
    macros = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return 16 if "__AVX512F__" in macros else 8 if "__AVX2__" in macros else 4


def build(cc: str, march: str, folder: Path) -> ctypes.CDLL:
    """Compile both versions of every function into a library."""
    source, library = folder / "bench.c", folder / "bench.so"
    functions = [f"OURS({fn}) LIBM({fn}, {SCALAR.get(fn, f'{fn}f(x)')})" for fn in VECTOR]
    source.write_text("#define _GNU_SOURCE\n" + SOURCE + "\n".join(functions))
    flags = ["-O2", f"-march={march}", "-ffp-contract=fast", "-Wno-psabi", "-shared", "-fPIC", f"-I{HEADERS}"]
    flags.append(f"-DLANES={lanes(cc, march)}")
    subprocess.run([cc, *flags, str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def nanoseconds(call: Callable[[], object], repetitions: int = 7, calls: int = 10) -> float:
    """The best time of a call, in ns an element."""
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        best = min(best, time.perf_counter_ns() - start)
    return best / calls / ELEMENTS


def measure(library: ctypes.CDLL, name: str) -> tuple[float, float, float | None]:
    """(ours, libm's, NumPy's or None) for the function of that name."""
    rng = np.random.default_rng(0)
    x = rng.uniform(*RANGES.get(name, (-6, 6)), ELEMENTS).astype(np.float32)
    y = np.empty_like(x)
    args = (ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), ctypes.c_long(ELEMENTS))
    ours, libm = getattr(library, f"mlc_{name}"), getattr(library, f"libm_{name}")
    times = nanoseconds(lambda: ours(*args)), nanoseconds(lambda: libm(*args))
    return *times, nanoseconds(lambda: NUMPY[name](x, out=y)) if name in NUMPY else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", help="default: all with a vector implementation")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--march", default="native")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = build(options.cc, options.march, Path(folder))
    print(f"{'ns/element':12}{'mlc':>8}{'libm':>8}{'numpy':>8}")
    for name in options.functions or VECTOR:
        ours, libm, numpy = measure(library, name)
        print(f"{name:12}{ours:8.2f}{libm:8.2f}{'-' if numpy is None else f'{numpy:.2f}':>8}")


if __name__ == "__main__":
    main()
