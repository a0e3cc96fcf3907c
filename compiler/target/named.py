"""Targets that can be asked for by name on any machine. Levels: the x86-64 psABI, section 3.1.1."""

from __future__ import annotations

from mlc.target.model import Target

KIB, MIB = 1 << 10, 1 << 20

# Only what generated code can gain from: address-size or system instructions of a level are left out.
X86_64_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "popcnt")
X86_64_V4 = (*X86_64_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")

NAMED = {
    target.name: target
    for target in (
        Target("x86-64", "x86_64", (), 128, 16, 32 * KIB, 256 * KIB, 4 * MIB, fma_ports=1),
        Target("x86-64-v3", "x86_64", X86_64_V3, 256, 16, 32 * KIB, 512 * KIB, 8 * MIB),
        Target("x86-64-v4", "x86_64", X86_64_V4, 512, 32, 32 * KIB, 1 * MIB, 16 * MIB),
        Target("aarch64", "aarch64", ("neon",), 128, 32, 64 * KIB, 512 * KIB, 4 * MIB),
    )
}
