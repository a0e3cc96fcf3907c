"""Detection of the host, from /proc/cpuinfo and sysfs (Linux), with the named targets as fallback."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from mlc.target.cpu import Cache, CpuTarget
from mlc.target.named import EXTENSIONS, NAMED, X86_64_V3, X86_64_V4, core_of
from mlc.target.rates import rates_of

# The kernel's spelling of a feature where it differs from the compiler's.
KERNEL_NAMES = {
    "bmi": "bmi1",
    "avx512vnni": "avx512_vnni",
    "avxvnni": "avx_vnni",
    "avx512bf16": "avx512_bf16",
    "avx512fp16": "avx512_fp16",
}
WIDTHS = ("fma_ports", "fma_latency", "load_ports", "issue_width")
CPUINFO = Path("/proc/cpuinfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@cache
def detect() -> CpuTarget:
    """The host as a target named ``cpu``. Facts that the system does not report are those of the closest named
    target."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    nearest = _with_widths(_nearest(machine, _features(CPUINFO)), CPUINFO)
    found = _caches(CACHES)
    l1, l2, l3 = (_cache(getattr(nearest, level), found.get(level, {})) for level in ("l1", "l2", "l3"))
    return replace(nearest, name="cpu", arch=machine, l1=l1, l2=l2, l3=l3, rates=rates_of(*_family(CPUINFO)))


def _with_widths(nearest: CpuTarget, cpuinfo: Path) -> CpuTarget:
    """``nearest`` with the ports and widths of this core, where it is one with AVX2 that the table of cores has."""
    core = core_of(*_family(cpuinfo), _fields(cpuinfo).get("model", ""))
    if core is None or core.vector_bits != nearest.vector_bits:
        return nearest
    return replace(nearest, **{name: getattr(core, name) for name in WIDTHS})


def _family(cpuinfo: Path) -> tuple[str, str]:
    """(vendor, family) of the first CPU, on Arm (implementer, part); empty strings if unknown."""
    fields = _fields(cpuinfo)
    vendor = fields.get("vendor_id") or fields.get("CPU implementer", "")
    return vendor, fields.get("cpu family") or fields.get("CPU part", "")


def _cache(nominal: Cache, found: Mapping[str, int]) -> Cache:
    """A cache as the system reports it. Without the number of ways, the nominal period is used."""
    size = found.get("size") or nominal.size
    ways = found.get("ways") or max(1, size // nominal.period)
    return Cache(size, ways, found.get("line") or nominal.line, found.get("shared_by") or nominal.shared_by)


def _nearest(machine: str, features: frozenset[str]) -> CpuTarget:
    """The widest named target that this CPU supports, with the CPU's further extensions."""
    if machine != "x86_64":
        return NAMED["aarch64"]

    def present(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if KERNEL_NAMES.get(name, name) in features)

    for level, isa in (("x86-64-v4", X86_64_V4), ("x86-64-v3", X86_64_V3)):
        if present(isa) == isa:
            extra = present(EXTENSIONS[level])
            return replace(NAMED[level], features=(*isa, *extra))
    return NAMED["x86-64"]


def _features(cpuinfo: Path) -> frozenset[str]:
    """The flags of the first CPU; none where the file is missing or has none."""
    try:
        lines = cpuinfo.read_text(errors="replace").splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), ":")
    return frozenset(flags.split(":", 1)[1].split())


def _caches(root: Path) -> dict[str, dict[str, int]]:
    """{"l1": {"size": bytes, ...}, ...} of the data and unified caches of the first CPU, as the system reports them."""
    found: dict[str, dict[str, int]] = {}
    for index in sorted(root.glob("index*")):
        if _text(index / "type") in ("Data", "Unified"):
            found["l" + _text(index / "level")] = {
                "size": _bytes(_text(index / "size")),
                "ways": _bytes(_text(index / "ways_of_associativity")),
                "line": _bytes(_text(index / "coherency_line_size")),
                "shared_by": _count(_text(index / "shared_cpu_list")),
            }
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _count(cpus: str) -> int:
    """'0-3,8' -> 5; 0 for a malformed list."""
    ranges = [re.fullmatch(r"(\d+)(?:-(\d+))?", part) for part in cpus.split(",")]
    return sum(int(r[2] or r[1]) - int(r[1]) + 1 for r in ranges if r) if all(ranges) else 0


def _bytes(size: str) -> int:
    """'48K' -> 49152; 0 for a malformed size."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    number, unit = (size[:-1], units[size[-1]]) if size[-1:] in units else (size, 1)
    return int(number) * unit if number.isdigit() else 0


def cpu_model(cpuinfo: Path = CPUINFO) -> str:
    """The model of the first CPU: its name and numbers, because one name may mean several generations."""
    fields = ("model name", "cpu family", "model", "stepping", "CPU implementer", "CPU part", "CPU variant")
    values = _fields(cpuinfo)
    return " ".join(values[field] for field in fields if field in values) or platform.machine()


def _fields(cpuinfo: Path) -> dict[str, str]:
    """The fields of /proc/cpuinfo for the first CPU."""
    try:
        lines = cpuinfo.read_text(errors="replace").split("\n\n")[0].splitlines()
    except OSError:
        lines = []
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
