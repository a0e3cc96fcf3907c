"""A CPU that mlc does not know: narrow vectors, few registers, small caches."""

from __future__ import annotations

from mlc.target.cpu import Cache, CpuTarget

KIB = 1 << 10
NARROW = CpuTarget(
    "narrow", "x86_64", (), vector_bits=128, vector_registers=8, fma_ports=1,
    l1=Cache(16 * KIB, ways=4), l2=Cache(128 * KIB), l3=Cache(1024 * KIB, ways=16),
)  # fmt: skip
