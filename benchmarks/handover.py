"""Cross-core latency: ns for a cache line to move to another CPU and back.

CPUs that share a cache take about 50, others several times as long, and then all engines are slower, each by what its
threads hand over. A virtual machine's CPUs may be moved while one looks on, so a comparison notes it with each model.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mlc import target as targets
from mlc.driver.toolchain.c_compiler import find

SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { ITERATIONS = 200000, WARM = 1000 };
static _Alignas(64) atomic_int token;
static void bind(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}
static void *answer(void *cpu) {
  bind(*(int *)cpu);
  for (int i = 0; i < ITERATIONS; i++) {
    while (atomic_load(&token) != 2 * i + 1) {}
    atomic_store(&token, 2 * i + 2);
  }
  return 0;
}
int main(int argc, char **argv) {
  int other = argc > 2 ? atoi(argv[2]) : 0;
  pthread_t thread;
  double start = 0;
  bind(atoi(argv[1]));
  if (pthread_create(&thread, 0, answer, &other)) return 1;
  for (int i = 0; i < ITERATIONS; i++) {
    if (i == WARM) start = now();
    atomic_store(&token, 2 * i + 1);
    while (atomic_load(&token) != 2 * i + 2) {}
  }
  printf("%.1f\n", (now() - start) / (ITERATIONS - WARM));
  return 0;
}
"""


def handover(cpus: Sequence[int]) -> float | None:
    """Nanoseconds between the first two of ``cpus``; None for a single one. Takes some hundredths of a second."""
    if len(cpus) < 2:
        return None
    command = [str(_program()), *map(str, cpus[:2])]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mlc-handover-")


@cache
def _program() -> Path:
    folder = Path(_folder().name)
    (folder / "handover.c").write_text(SOURCE)
    command = find(None, targets.get("cpu")).command
    subprocess.run([*command, "-O2", "-pthread", "handover.c", "-o", "handover"], cwd=folder, check=True)
    return folder / "handover"
