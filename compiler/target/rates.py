"""Rates of CPUs, by family. Measured rates affect schedules only through ``mlc tune``, so that the same input and
target give the same bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rates:
    """The rates of one CPU while the others are busy."""

    clock: float = 3.125e9  # cycles
    l2_bytes: float = 100e9  # read of its own L2
    l3_bytes: float = 30e9  # read of L3
    l3_write_bytes: float = 37.5e9  # that leave L2 for L3
    memory_bytes: float = 25e9  # read of memory
    remote_bytes: float = 10e9  # read of what a CPU that shares no cache with it wrote
    barrier: float = 0.66e-6  # seconds from the last thread's arrival until all run on
    byte_products: float = 1.25  # exact ones of bytes in the time of one of floats, by AVX2 without VNNI
    word_products: float = 1.75  # of i16, which it need not unpack


DEFAULT = Rates()
"""The rates of named targets, and of families without measurements."""

FAMILIES = {
    ("AuthenticAMD", "25"): DEFAULT,  # Zen 3 and 4: where the default was measured
}
"""Rates by vendor and family, as in /proc/cpuinfo. On Arm: by implementer and part."""


def rates_of(vendor: str, family: str) -> Rates:
    """The rates of a family; the default for one that is not in the table."""
    return FAMILIES.get((vendor, family), DEFAULT)
