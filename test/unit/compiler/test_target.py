from __future__ import annotations

from pathlib import Path

import pytest

from mlc import target as targets
from mlc.runtime.errors import InputError
from mlc.target import host
from mlc.target.model import Target

CASCADE_LAKE = "avx avx2 bmi1 bmi2 f16c fma popcnt avx512f avx512bw avx512cd avx512dq avx512vl avx512_vnni sse2"


def test_host_has_usable_figures() -> None:
    target = targets.get("cpu")
    assert target.name == "cpu"
    assert 0 < target.l1 < target.l2 <= target.l3 * 64
    assert target.lanes() * 32 == target.vector_bits
    assert target.lanes(64) * 2 == target.lanes(32)


def test_unknown_target_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="cpu, x86-64, x86-64-v3, x86-64-v4, aarch64"):
        targets.get("z80")


@pytest.mark.parametrize(
    ("flags", "width", "extra"),
    [
        (CASCADE_LAKE, 512, "avx512vnni"),
        ("avx avx2 bmi1 bmi2 f16c fma popcnt avx_vnni", 256, "avxvnni"),
        ("avx avx2 bmi1 bmi2 f16c popcnt", 128, None),  # no fma: not v3
        ("", 128, None),
    ],
)
def test_the_widest_level_a_cpu_has(flags: str, width: int, extra: str | None) -> None:
    nearest = host._nearest("x86_64", frozenset(flags.split()))
    assert nearest.vector_bits == width
    assert extra is None or nearest.has(extra)


def test_features_and_caches_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor : 0\nflags\t\t: fpu avx2\n\nprocessor : 1\nflags\t: other\n")
    assert host._features(tmp_path / "cpuinfo") == {"fpu", "avx2"}
    for i, (kind, level, size) in enumerate(
        [("Data", "1", "48K"), ("Instruction", "1", "32K"), ("Unified", "2", "2M")]
    ):
        folder = tmp_path / f"index{i}"
        folder.mkdir()
        for name, text in (("type", kind), ("level", level), ("size", size)):
            (folder / name).write_text(text + "\n")
    assert host._cache_sizes(tmp_path) == {"l1": 48 << 10, "l2": 2 << 20, "l3": 0}


def test_a_machine_that_tells_nothing_gets_the_base_level(tmp_path: Path) -> None:
    assert host._features(tmp_path / "none") == frozenset()
    assert host._cache_sizes(tmp_path / "none") == {"l1": 0, "l2": 0, "l3": 0}
    assert host._bytes("unknown") == 0


def test_flags_name_the_instruction_sets_one_by_one() -> None:
    flags = targets.get("x86-64-v4").cflags
    assert flags[0] == "-march=x86-64"
    assert {"-mfma", "-mavx512vl", "-mprefer-vector-width=512"} <= set(flags)
    assert not any("native" in flag for flag in flags)
    assert targets.get("aarch64").cflags == ("-march=armv8-a",)
    assert Target("t", "aarch64", ("neon", "sve"), 128, 32, 1, 1, 1).cflags == ("-march=armv8-a+sve",)


def test_the_model_of_a_cpu_is_its_name_and_numbers(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("model\t\t: 85\nmodel name\t: Xeon @ 2.5\nstepping\t: 7\n\nmodel name\t: other\n")
    assert host.cpu_model(file) == "Xeon @ 2.5 85 7"
    file.write_text("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")
    assert host.cpu_model(file) == "0x41 0xd0c"
    assert host.cpu_model(tmp_path / "absent")
