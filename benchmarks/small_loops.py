"""Loops of 1,000 small iterations beside hand-written C, and JAX where it is there: `python -m benchmarks.small_loops`.

Prints the best microseconds of each, which run in turn, after their results are compared.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arrays.__main__ import in_turn
from benchmarks.arrays.libraries import Jax, Mlc, NumPy

STEPS = 1000
SOURCE = """
#include <math.h>
#include <string.h>
void update(const double *x, double *y) {
  memcpy(y, x, 1000 * sizeof *x);
  for (int i = 0; i < 1000; i++) y[i] += 1.5;
}
void neighbours(const double *x, double *y) {
  memcpy(y, x, 1000 * sizeof *x);
  for (int i = 1; i < 1000; i++) y[i] = 0.5 * y[i - 1] + y[i];
}
void rotation(const double *a, double *y) {
  double s[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, t[9];
  for (int n = 0; n < 1000; n++) {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) t[3 * i + j] = a[3 * i] * s[j] + a[3 * i + 1] * s[3 + j] + a[3 * i + 2] * s[6 + j];
    memcpy(s, t, sizeof s);
  }
  memcpy(y, s, sizeof s);
}
void gradient(const double *x, double *y) {
  double c[1001], bar = 1;
  c[0] = 0.5;
  for (int n = 0; n < 1000; n++) c[n + 1] = sin(c[n]) + x[n];
  for (int n = 999; n >= 0; n--) y[n] = bar, bar *= cos(c[n]);
}
"""


def update(lib: Any, x: Any) -> Any:
    return lib.fori(STEPS, lambda i, s: s.at[i].add(1.5), x)


def neighbours(lib: Any, x: Any) -> Any:
    return lib.fori(STEPS - 1, lambda i, s: s.at[i + 1].set(0.5 * s[i] + s[i + 1]), x)


def rotation(lib: Any, a: Any) -> Any:
    return lib.scan(lambda s, _: (a @ s, s[0, 0]), lib.np.eye(3, dtype="float64"), lib.np.zeros(STEPS))[0]


def gradient(lib: Any, x: Any) -> Any:
    step = lambda c, u: (lib.np.sin(c) + u, c)  # noqa: E731
    return lib.grad(lambda x: lib.scan(step, lib.np.sum(x) * 0 + 0.5, x)[0])(x)


_ANGLE = np.array([[np.cos(0.01), -np.sin(0.01), 0], [np.sin(0.01), np.cos(0.01), 0], [0, 0, 1]])
_X = np.random.default_rng(5).normal(size=STEPS) * 0.1
PROGRAMS: dict[Callable[..., Any], np.ndarray[Any, Any]] = {
    update: _X,
    neighbours: _X,
    rotation: _ANGLE,
    gradient: _X,
}


def compiled(folder: Path) -> ctypes.CDLL:
    """The loops of ``SOURCE``."""
    (folder / "loops.c").write_text(SOURCE)
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", "loops.c", "-o", "loops.so", "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    return ctypes.CDLL(str(folder / "loops.so"))


def measured(f: Callable[..., Any], x: np.ndarray[Any, Any], library: ctypes.CDLL, rounds: int) -> dict[str, float]:
    """The best microseconds of C, mlc and JAX."""
    y = np.empty_like(x)
    pointers, call = [ctypes.c_void_p(each.ctypes.data) for each in (x, y)], getattr(library, f.__name__)
    runs: dict[str, Callable[[], Any]] = {"C": lambda: call(*pointers)}
    others: list[type[NumPy]] = [Mlc, *([Jax] if find_spec("jax") else [])]
    runs |= {each.name: each().compiled(f, [x]) for each in others}
    runs["C"]()
    for name in list(runs)[1:]:
        np.testing.assert_allclose(np.asarray(runs[name]()), y, rtol=1e-6, atol=1e-9, err_msg=name)
    return {name: min(bursts) for name, bursts in in_turn(runs, rounds, 0.05).items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_loops", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    if find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder))
        for f, x in PROGRAMS.items():
            times = measured(f, x, library, rounds)
            print(f"{f.__name__:12}" + "".join(f"{name:>6} {each:8.1f} us" for name, each in times.items()))


if __name__ == "__main__":
    main()
