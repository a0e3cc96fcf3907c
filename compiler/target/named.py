"""Named targets, which are the same on any machine. Levels: the x86-64 psABI, section 3.1.1."""

from __future__ import annotations

from mlc.target.cpu import Cache, CpuTarget

KIB, MIB = 1 << 10, 1 << 20

# Only features that generated code can use: address-size and system instructions of a level are omitted.
X86_64_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "popcnt")
X86_64_V4 = (*X86_64_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")

EXTENSIONS = {
    "x86-64-v4": ("avx512vnni", "avxvnni", "avx512bf16", "avx512fp16"),
    "x86-64-v3": ("avxvnni",),
}
"""What CPUs of a level may have beside its features."""

L1 = Cache(32 * KIB)

NAMED = {
    target.name: target
    for target in (
        CpuTarget("x86-64", "x86_64", (), 128, 16, L1, Cache(256 * KIB), Cache(4 * MIB, ways=16), fma_ports=1),
        CpuTarget("x86-64-v3", "x86_64", X86_64_V3, 256, 16, L1, Cache(512 * KIB), Cache(8 * MIB, ways=16)),
        CpuTarget("x86-64-v4", "x86_64", X86_64_V4, 512, 32, L1, Cache(1 * MIB), Cache(16 * MIB, ways=16)),
        CpuTarget("aarch64", "aarch64", ("neon",), 128, 32, Cache(64 * KIB, ways=4), Cache(512 * KIB), Cache(4 * MIB)),
    )
}
DEFAULT = NAMED["x86-64-v4"]
"""The default target of a pass: in ``mlc-opt`` without ``--for-target``, and under plain xDSL."""
