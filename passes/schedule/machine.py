"""What a schedule rule needs to know of the machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """``lanes``: 4-byte elements a vector register; ``registers``: how many.

    ``l2``: bytes of a core's own cache, for every target the same: half of it may be arrays on the stack, and where a
    CPU has less, L3 serves the rest.
    """

    lanes: int = 16
    registers: int = 32
    l2: int = 1 << 20
    flops: float = 400e9  # operations a second of two CPUs, in a product
    cache: float = 60e9  # bytes a second that they read of L3
    remote: float = 10e9  # that CPUs without a common cache read of what others wrote

    def fma_cycles(self, rows: int, vectors: int) -> float:
        """Cycles a step of a rows × vectors outer product takes: FMA ports, load ports, issue width."""
        return max(rows * vectors / 2, (rows + vectors) / 2, (rows * vectors + rows + vectors + 3) / 4)

    def fits(self, rows: int, vectors: int) -> bool:
        """Accumulators, one row of B and a broadcast of A stay in registers."""
        return rows * vectors + vectors + 1 <= self.registers
