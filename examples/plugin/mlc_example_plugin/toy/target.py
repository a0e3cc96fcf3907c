"""The accelerator's facts. Its host program is C for the CPU that mlc runs on."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import ClassVar

from mlc.target.cpu import Cache, CpuTarget

KIB = 1 << 10
SIDE = 8
"""Rows and columns of a tile, a register of the scratchpad."""


@dataclass(frozen=True)
class ToyTarget(CpuTarget):
    kind: ClassVar[str] = "toy"

    tiles: int = 32  # in the scratchpad
    loops: int = 8  # registers that count iterations; two more are always 0
    buffers: int = 64


TOY = ToyTarget(
    "toy", platform.machine(), (), vector_bits=128, vector_registers=8,
    l1=Cache(16 * KIB, ways=4), l2=Cache(128 * KIB), l3=Cache(1024 * KIB, ways=16),
)  # fmt: skip
