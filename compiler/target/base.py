"""The interface of a target: its name, kind of machine, instruction sets, C flags, and what follows for every kind.

This package is a leaf, so that every pass can read a target. What mlc builds for a target is in its backend
(``mlc.pipelines.backend``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Target(ABC):
    """A machine to compile for. Its fields are facts, plain values: they are part of the key of the compilation cache.

    ``features`` names instruction sets as the C compiler's ``-m`` flags do; the artifact carries the list and refuses
    to load on a machine that lacks one. ``kind`` names the kind of machine, and so the backend.
    """

    kind: ClassVar[str]

    name: str
    arch: str  # as `uname -m` says it: "x86_64", "aarch64"
    features: tuple[str, ...]

    def has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def open_rows(self) -> bool:
        """Whether one kernel normalizes rows of symbolic extents, which it may read several times from memory."""
        return False

    @property
    def blocks_terms(self) -> bool:
        """Whether long sums run in blocks of terms, whose panels stay in L1."""
        return False

    @property
    @abstractmethod
    def thread_blocks(self) -> bool:
        """Whether a block of threads computes a tile together, and not one thread."""

    @property
    def device_memory(self) -> bool:
        """Whether kernels have a memory of their own, beside that of the host program."""
        return False

    @property
    def warpgroups(self) -> bool:
        """Whether kernels may have products of warpgroups."""
        return False

    @property
    @abstractmethod
    def local_room(self) -> int:
        """The most bytes of local arrays outside of the arena: on the stack, or in shared memory."""

    @property
    def mask_bytes(self) -> int:
        """The most bytes of a matrix of limits that is read faster than it is computed by comparisons; 0: none is."""
        return 0

    def row_padding(self, row_bytes: int) -> int:
        """The bytes to add to each row of a local array, so that the rows of a tile are in different sets of a
        cache."""
        return 0

    @property
    @abstractmethod
    def resident_bytes(self) -> int:
        """Bytes that stay in L2 while about as many are streamed through it."""

    @property
    @abstractmethod
    def block_bytes(self) -> int:
        """Bytes that one task may read several times from a cache while others stream their operands."""

    @abstractmethod
    def tasks(self, each: int = 1) -> int:
        """The number of independent tasks for ``each`` tasks a thread of a CPU, or a multiprocessor of a GPU."""

    @property
    @abstractmethod
    def cflags(self) -> tuple[str, ...]:
        """Flags that let the C compiler use exactly ``features``."""
