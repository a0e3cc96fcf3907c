"""Named targets, which are the same on any machine. Levels: the x86-64 psABI, section 3.1.1.

Facts of cores with AVX2: Intel's Optimization Reference Manual (248966), sections on Haswell, Skylake, Golden Cove and
Gracemont; AMD's Software Optimization Guides for families 17h (56305, Zen 2) and 19h (56665, Zen 3). L3 is that of a
usual model. Their names are those of ``gcc -march``.
"""

from __future__ import annotations

from mlc.target.cpu import Cache, CpuTarget

KIB, MIB = 1 << 10, 1 << 20

# Only features that generated code can use: address-size and system instructions of a level are omitted.
X86_64_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "popcnt")
X86_64_V4 = (*X86_64_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")

EXTENSIONS = {
    "x86-64-v4": ("avx512vnni", "avxvnni", "avx512bf16", "avx512fp16"),
    "x86-64-v3": ("avxvnni",),
    "alderlake": ("avxvnni",),
    "gracemont": ("avxvnni",),
}
"""What CPUs of a level may have beside its features."""

L1 = Cache(32 * KIB)


def _core(name: str, l1: Cache, l2: Cache, l3: Cache, **facts: int) -> CpuTarget:
    """A core with AVX2."""
    return CpuTarget(name, "x86_64", X86_64_V3, 256, 16, l1, l2, l3, **facts)  # type: ignore[arg-type]


CORES = (
    _core("haswell", L1, Cache(256 * KIB), Cache(8 * MIB, 16, shared_by=4), issue_width=4, fma_latency=5),
    _core("skylake", L1, Cache(256 * KIB, 4), Cache(8 * MIB, 16, shared_by=4), issue_width=4),
    _core("znver2", L1, Cache(512 * KIB), Cache(16 * MIB, 16, shared_by=4), issue_width=6, fma_latency=5),
    _core("znver3", L1, Cache(512 * KIB), Cache(32 * MIB, 16, shared_by=8), issue_width=6),
    _core(
        "alderlake", Cache(48 * KIB, 12), Cache(1280 * KIB, 10), Cache(30 * MIB, 12, shared_by=8),
        issue_width=6, load_ports=3,
    ),
    # Its ports are 128 bits wide: a multiply-add or a load of 256 bits takes both.
    _core(
        "gracemont", L1, Cache(2 * MIB, 16, shared_by=4), Cache(6 * MIB, 12, shared_by=4),
        issue_width=5, fma_ports=1, load_ports=1, fma_latency=6,
    ),
)  # fmt: skip

MODELS: dict[tuple[str, str], dict[str, tuple[int, ...]]] = {
    ("GenuineIntel", "6"): {
        "haswell": (60, 63, 69, 70, 61, 71, 79, 86), "skylake": (78, 94, 142, 158, 165, 166),
        "alderlake": (151, 154, 183, 186, 191), "gracemont": (190,),
    },
    ("AuthenticAMD", "23"): {"znver2": (49, 96, 104, 113, 144, 160)},
    ("AuthenticAMD", "25"): {"znver3": (1, 33, 64, 68, 80)},
}  # fmt: skip
"""Cores with AVX2 by vendor and family, with the numbers of models in /proc/cpuinfo."""


def core_of(vendor: str, family: str, model: str) -> CpuTarget | None:
    """The core with AVX2 that a CPU has, None for one that is not in the table."""
    cores = MODELS.get((vendor, family), {})
    found = next((name for name, models in cores.items() if model in map(str, models)), None)
    return next((core for core in CORES if core.name == found), None)


NAMED = {
    target.name: target
    for target in (
        CpuTarget("x86-64", "x86_64", (), 128, 16, L1, Cache(256 * KIB), Cache(4 * MIB, ways=16), fma_ports=1),
        CpuTarget("x86-64-v3", "x86_64", X86_64_V3, 256, 16, L1, Cache(512 * KIB), Cache(8 * MIB, ways=16)),
        CpuTarget("x86-64-v4", "x86_64", X86_64_V4, 512, 32, L1, Cache(1 * MIB), Cache(16 * MIB, ways=16)),
        CpuTarget("aarch64", "aarch64", ("neon",), 128, 32, Cache(64 * KIB, ways=4), Cache(512 * KIB), Cache(4 * MIB)),
        *CORES,
    )
}
DEFAULT = NAMED["x86-64-v4"]
"""The default target of a pass: in ``mlc-opt`` without ``--for-target``, and under plain xDSL."""
