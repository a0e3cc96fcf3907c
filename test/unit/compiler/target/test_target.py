from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest
from xdsl.context import Context

from mlc import target as targets
from mlc.errors import InputError
from mlc.options import Options
from mlc.passes.context import MlcContext, target_of, with_target
from mlc.target import Cache, CpuTarget, base, host, rates

CASCADE_LAKE = "avx avx2 bmi1 bmi2 f16c fma popcnt avx512f avx512bw avx512cd avx512dq avx512vl avx512_vnni sse2"


def test_host_has_usable_figures() -> None:
    target = targets.get("cpu")
    assert target.name == "cpu"
    assert 0 < target.l1.size < target.l2.size <= target.l3.size * 64
    assert target.lanes * 32 == target.vector_bits
    assert target.l1.period % target.l1.line == 0


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
    names = ("type", "level", "size", "ways_of_associativity", "coherency_line_size", "shared_cpu_list")
    for i, strings in enumerate([("Data", "1", "48K", "12", "64", "0"), ("Instruction", "1", "32K", "8", "64", "0"),
                               ("Unified", "3", "32M", "16", "64", "0-3,8")]):  # fmt: skip
        folder = tmp_path / f"index{i}"
        folder.mkdir()
        for name, text in zip(names, strings, strict=True):
            (folder / name).write_text(text + "\n")
    found = host._caches(tmp_path)
    assert found == {"l1": {"size": 48 << 10, "ways": 12, "line": 64, "shared_by": 1},
                     "l3": {"size": 32 << 20, "ways": 16, "line": 64, "shared_by": 5}}  # fmt: skip
    nominal = targets.get("x86-64-v4")
    assert host._cache(nominal.l1, found["l1"]).period == 4096
    assert host._cache(nominal.l2, {}) == nominal.l2


def test_a_machine_that_tells_nothing_gets_the_base_level(tmp_path: Path) -> None:
    assert host._features(tmp_path / "none") == frozenset()
    assert host._caches(tmp_path / "none") == {}
    (tmp_path / "index0").mkdir()
    (tmp_path / "index0" / "type").write_text("Data")
    assert host._caches(tmp_path) == {"l": {"size": 0, "ways": 0, "line": 0, "shared_by": 0}}
    assert host._count("none") == 0
    assert host._bytes("unknown") == 0


def test_flags_name_the_instruction_sets_one_by_one() -> None:
    flags = targets.get("x86-64-v4").cflags
    assert flags[0] == "-march=x86-64"
    assert {"-mfma", "-mavx512vl", "-mprefer-vector-width=512"} <= set(flags)
    assert not any("native" in flag for flag in flags)
    assert targets.get("aarch64").cflags == ("-march=armv8-a",)
    some = Cache(1 << 15)
    assert CpuTarget("t", "aarch64", ("neon", "sve"), 128, 32, some, some, some).cflags == ("-march=armv8-a+sve",)


def test_a_name_with_other_facts() -> None:
    """Facts after a colon take the place of the named target's; the artifact says so, as the name has them."""
    found = targets.get("x86-64-v3:l2=1M,vector_registers=32")
    assert (found.l2.size, found.vector_registers, found.lanes) == (1 << 20, 32, 8)
    assert found.name == "x86-64-v3:l2=1M,vector_registers=32" and found.l2.ways == targets.get("x86-64-v3").l2.ways
    for wrong in ("l4=1M", "l2=x", "l2=0", "name=3", "l2"):
        with pytest.raises(InputError, match=f"'{wrong}' is not a fact of a target.*vector_bits, vector_registers, l1"):
            targets.get(f"x86-64-v3:{wrong}")


def test_a_gpu_with_other_facts() -> None:
    usual = targets.get("cuda:sm_90")
    found = targets.get("cuda:sm_90:l2_bytes=6M")
    assert found == replace(usual, name="cuda:sm_90:l2_bytes=6M", l2_bytes=6 << 20)
    both = targets.get("cuda:sm_90:l2_bytes=6M,queries=8")
    heuristics = replace(found.heuristics, queries=8)
    assert both == replace(found, name="cuda:sm_90:l2_bytes=6M,queries=8", heuristics=heuristics)
    assert targets.get("cuda:warp=32").name == "cuda:warp=32"
    with pytest.raises(InputError, match="'l2=1M' is not a fact of a target.*l2_bytes"):
        targets.get("cuda:sm_90:l2=1M")
    for name, near in (("gpu", "cuda"), ("cuda-sm_90", "cuda:sm_90"), ("sm_80", "cuda:sm_80"), ("NVIDIA", "cuda")):
        with pytest.raises(InputError, match=f"Unknown target '{name}'.*Did you mean '{near}'[?]"):
            targets.get(name)
    with pytest.raises(InputError, match="Unknown target 'cuda:sm_10'"):
        targets.get("cuda:sm_10")


@pytest.mark.parametrize("wrong", [
    "cuda:sm_90:warp=3", "cuda:sm_90:warp=64", "cuda:sm_80:block_threads=7", "cuda:most_threads=1G", "cuda:shared=48",
    "x86-64-v4:vector_bits=7", "x86-64-v4:vector_registers=1000G",
])  # fmt: skip
def test_facts_of_no_machine_are_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="no machine is like that.*Give [0-9]+ to [0-9]+"):
        targets.get(wrong)


def test_a_target_is_a_name() -> None:
    with pytest.raises(InputError, match="A target is a name, not a int.*Known targets are cpu"):
        targets.get(3)  # type: ignore[arg-type]


def test_the_model_of_a_cpu_is_its_name_and_numbers(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("model\t\t: 85\nmodel name\t: Xeon @ 2.5\nstepping\t: 7\n\nmodel name\t: other\n")
    assert host.cpu_model(file) == "Xeon @ 2.5 85 7"
    file.write_text("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")
    assert host.cpu_model(file) == "0x41 0xd0c"
    assert host.cpu_model(tmp_path / "absent")


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("vendor_id : AuthenticAMD\ncpu family : 25\n\nvendor_id : other", ("AuthenticAMD", "25")),
        ("CPU implementer : 0x41\nCPU part : 0xd0c\n", ("0x41", "0xd0c")),
        ("", ("", "")),
    ],
)
def test_rates_are_those_of_the_family(
    text: str, family: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(text)
    assert host._family(file) == family
    assert rates.rates_of(*family) == rates.DEFAULT
    measured = replace(rates.DEFAULT, l3_bytes=50e9)
    monkeypatch.setitem(rates.FAMILIES, family, measured)
    assert rates.rates_of(*family) is measured


def test_a_target_is_plain_values_in_the_key_of_the_cache() -> None:
    """Two targets that differ in a fact have two keys; the key is the same text each time."""
    keys = [json.dumps(Options(target=targets.get(name)).key()["target"]) for name in ("x86-64-v3", "x86-64-v3:l2=1M")]
    assert keys[0] != keys[1] and keys[0] == json.dumps(Options(target=targets.get("x86-64-v3")).key()["target"])
    assert {"fma_ports", "rates", "l2", "threads"} <= json.loads(keys[0]).keys()


def test_a_pass_for_cpus_asks_the_context() -> None:
    assert target_of(Context()) is targets.DEFAULT
    context = MlcContext(target=targets.get("x86-64-v3"))
    assert target_of(context.clone()).lanes == 8 and with_target(context, targets.DEFAULT).target is targets.DEFAULT


def test_the_package_is_a_leaf() -> None:
    """At import it needs errors alone, so that every pass can read a target."""
    folder = Path(base.__file__).parent
    for path in folder.glob("*.py"):
        top = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
        modules = [getattr(node, "module", None) or node.names[0].name for node in top]
        ours = {module for module in modules if module.split(".")[0] in ("mlc", "xdsl")}
        assert all(module == "mlc.errors" or module.startswith("mlc.target") for module in ours), path


def test_instruction_sets_beside_those_of_a_level() -> None:
    made = targets.get("x86-64-v4:avx512bf16,l2=2M,avx512vnni")
    assert made.features[-2:] == ("avx512bf16", "avx512vnni") and "-mavx512bf16" in made.cflags
    assert isinstance(made, CpuTarget) and made.multiplies_pairs and made.l2.size == 2 << 20
    for wrong in ("x86-64-v3:avx512bf16", "aarch64:avx512bf16", "x86-64-v4:avx512"):
        with pytest.raises(InputError, match="is not a fact of a target"):
            targets.get(wrong)


@pytest.mark.parametrize("name", ["haswell", "skylake", "znver2", "znver3", "alderlake", "gracemont"])
def test_cores_by_name_have_the_instructions_of_avx2(name: str) -> None:
    target = targets.get(name)
    assert isinstance(target, CpuTarget)
    assert target.cflags == targets.get("x86-64-v3").cflags
    assert target.l1.size < target.l2.size < target.l3.size and target.fits(6, 2)
    assert targets.get(f"{name}:l2=384K").name == f"{name}:l2=384K"


def test_a_core_with_ports_of_half_a_vector_takes_two_cycles_a_pair() -> None:
    narrow, wide = targets.get("gracemont"), targets.get("alderlake")
    assert isinstance(narrow, CpuTarget) and isinstance(wide, CpuTarget)
    assert (narrow.fma_cycles(6, 2), wide.fma_cycles(6, 2)) == (12, 6)


@pytest.mark.parametrize(
    ("vendor", "family", "model", "level", "width"),
    [
        ("AuthenticAMD", 25, 33, "x86-64-v3", 6),
        ("GenuineIntel", 6, 158, "x86-64-v3", 4),
        ("GenuineIntel", 6, 154, "x86-64-v3", 6),
        ("AuthenticAMD", 23, 1, "x86-64-v3", 4),  # Zen 1 is not in the table
        ("AuthenticAMD", 25, 33, "x86-64-v4", 4),  # no core with AVX2 only
    ],
)
def test_widths_of_a_detected_core(
    tmp_path: Path, vendor: str, family: int, model: int, level: str, width: int
) -> None:
    (tmp_path / "cpuinfo").write_text(f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n")
    nearest = targets.get(level)
    assert isinstance(nearest, CpuTarget)
    assert host._with_widths(nearest, tmp_path / "cpuinfo").issue_width == width


def test_a_small_tile_takes_the_latency_of_a_multiply_add_with_16_registers() -> None:
    avx2, avx512 = targets.get("x86-64-v3"), targets.get("x86-64-v4")
    assert isinstance(avx2, CpuTarget) and isinstance(avx512, CpuTarget)
    assert avx2.step_cycles(2, 2) == avx2.fma_latency > avx2.fma_cycles(2, 2)
    assert avx2.step_cycles(6, 2) == avx2.fma_cycles(6, 2)
    assert avx512.step_cycles(2, 2) == avx512.fma_cycles(2, 2)
