"""Describes the machine mlc runs on, from /proc/cpuinfo and sysfs (Linux), with the named targets as fallback."""

from __future__ import annotations

import platform
from dataclasses import replace
from functools import cache
from pathlib import Path

from mlc.target.model import Target
from mlc.target.named import NAMED, X86_64_V3, X86_64_V4

# The kernel's spelling of a feature where it differs from the compiler's.
KERNEL_NAMES = {
    "bmi": "bmi1",
    "avx512vnni": "avx512_vnni",
    "avxvnni": "avx_vnni",
    "avx512bf16": "avx512_bf16",
    "avx512fp16": "avx512_fp16",
}
EXTENSIONS = ("avx512vnni", "avxvnni", "avx512bf16", "avx512fp16")
CPUINFO = Path("/proc/cpuinfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@cache
def detect() -> Target:
    """The host as a Target named ``cpu``. Unknown cache sizes are those of the nearest named target."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    nearest = _nearest(machine, _features(CPUINFO))
    sizes = _cache_sizes(CACHES)
    known = {level: size or getattr(nearest, level) for level, size in sizes.items()}
    return replace(nearest, name="cpu", arch=machine, l1=known["l1"], l2=known["l2"], l3=known["l3"])


def _nearest(machine: str, features: frozenset[str]) -> Target:
    """The widest named target this CPU can run, with the extensions it has beyond that level."""
    if machine != "x86_64":
        return NAMED["aarch64"]

    def present(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if KERNEL_NAMES.get(name, name) in features)

    for level, isa in (("x86-64-v4", X86_64_V4), ("x86-64-v3", X86_64_V3)):
        if present(isa) == isa:
            extra = present(EXTENSIONS) if level == "x86-64-v4" else present(("avxvnni",))
            return replace(NAMED[level], isa=(*isa, *extra))
    return NAMED["x86-64"]


def _features(cpuinfo: Path) -> frozenset[str]:
    """The flags of the first CPU; none where the file is missing or has none."""
    try:
        lines = cpuinfo.read_text(errors="replace").splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), ":")
    return frozenset(flags.split(":", 1)[1].split())


def _cache_sizes(root: Path) -> dict[str, int]:
    """{"l1": bytes, ...} of the data and unified caches of the first CPU."""
    sizes: dict[str, int] = {}
    for index in sorted(root.glob("index*")):
        try:
            kind, level, size = ((index / name).read_text().strip() for name in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            sizes[f"l{level}"] = _bytes(size)
    return {level: sizes.get(level, 0) for level in ("l1", "l2", "l3")}


def _bytes(size: str) -> int:
    """'48K' -> 49152; 0 for what is not a size."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    number, unit = (size[:-1], units[size[-1]]) if size[-1:] in units else (size, 1)
    return int(number) * unit if number.isdigit() else 0


def cpu_model(cpuinfo: Path = CPUINFO) -> str:
    """The model of the first CPU: a name alone may stand for several generations, so the numbers are there too."""
    fields = ("model name", "cpu family", "model", "stepping", "CPU implementer", "CPU part", "CPU variant")
    try:
        lines = cpuinfo.read_text(errors="replace").split("\n\n")[0].splitlines()
    except OSError:
        lines = []
    values = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return " ".join(values[field] for field in fields if field in values) or platform.machine()
