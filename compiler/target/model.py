"""The description of a CPU that schedules and code generation work from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A CPU: everything a schedule rule or a printer may ask about it.

    ``isa`` names instruction sets as the C compiler's ``-m`` flags do; the artifact carries the list and refuses to
    load on a CPU that lacks one. Cache sizes are bytes a core can use: ``l1`` and ``l2`` private, ``l3`` shared.
    """

    name: str
    arch: str  # as `uname -m` says it: "x86_64", "aarch64"
    isa: tuple[str, ...]
    vector_bits: int
    vector_registers: int
    l1: int
    l2: int
    l3: int
    fma_ports: int = 2

    def lanes(self, bits: int = 32) -> int:
        """Elements of ``bits`` bits in one vector register."""
        return self.vector_bits // bits

    def has(self, feature: str) -> bool:
        return feature in self.isa

    @property
    def cflags(self) -> tuple[str, ...]:
        """Flags that let the C compiler use exactly ``isa``: the same on every machine, unlike ``-march=native``."""
        if self.arch != "x86_64":
            extensions = [feature for feature in self.isa if feature != "neon"]
            return ("-march=" + "+".join([_BASE.get(self.arch, "native"), *extensions]),)
        width = ("-mprefer-vector-width=512",) if self.vector_bits == 512 else ()
        return ("-march=x86-64", *(f"-m{feature}" for feature in self.isa), *width)


_BASE = {"aarch64": "armv8-a"}
