"""A file of kernels gets the parts of the headers that define what it uses, and little else."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from mlc import target
from mlc.driver.toolchain.c_compiler import find
from mlc.passes.codegen.cpu.header_parts import PARTS, parts_of
from mlc.passes.codegen.emit_c import unit
from mlc.runtime.c import include_flags, paths

NAMES = re.compile(r"\b(mlc_\w+)\(")
HELPERS = re.compile(
    r"mlc_(twister_|key_|less_|before_|sift_|select_|merge_|sort_|radix_|ordered_|scan_(line|block)_|overlap|trig_far_|"
    r"quotient_|div_each_|floordiv_each_|dot4_each|swap_|exp_part|erf_part|tanh_part|(exp|log|sin|cos|trig|log2|exp2)_).*"
    r"|mlc_(min|max|any|scale|power)_f32x\d+"
)
"""Functions of the headers that only other functions of theirs call."""


def compiled(parts: str, *flags: str) -> str:
    """What the C compiler prints for the headers with some parts; it must accept them."""
    cpu = target.get("cpu")
    text = f'#define MLC_PARTS {parts}\n#include "mlc_library.h"\n'
    chosen = (*find(None, cpu).flags(cpu, cpu.cflags), *include_flags(), "-Werror=implicit-function-declaration")
    command = [*find(None, cpu).command, *chosen, *flags, "-x", "c", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def defined(parts: str) -> set[str]:
    """The functions of the headers with some parts."""
    return set(NAMES.findall(compiled(parts, "-E", "-P")))


def test_a_file_with_any_function_has_the_parts_that_define_it() -> None:
    called = {name for name in defined("-1") if not HELPERS.fullmatch(name)}
    missing = {name for name in called if name not in defined(" | ".join(parts_of(f"{name}(a)")) or "0")}
    assert len(called) > 1000 and not missing


@pytest.mark.parametrize("part", ["0", *PARTS])
def test_a_part_needs_no_other(part: str, tmp_path: Path) -> None:
    compiled(part, "-c", "-o", str(tmp_path / "part.o"))


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_left_out(part: str) -> None:
    own = re.search(rf"#define {part} \(?(0x\w+)", paths()["mlc_parts.h"].read_text())
    assert own is not None
    assert defined(f"~{own[1]}") < defined("-1")


@pytest.mark.parametrize(
    ("text", "parts", "header"),
    [
        ("int64_t a = mlc_minimum_i64(b, c);", "0", "kernel"),
        ("f32x8 v = mlc_load_f32x8(p);", "MLC_USE_F32", "kernel"),
        ("f32x8_m v = i;", "MLC_USE_F32", "kernel"),
        ("f32x16 v = mlc_load_every_2_f32x16(p);", "MLC_USE_F32 | MLC_USE_STRIDED", "kernel"),
        ("mlc_exchange_4_i8x16(v);", "MLC_USE_I8 | MLC_USE_TRANSPOSED", "kernel"),
        ("u8x4 v; i32x4 w = mlc_widen_u8x4(v);", "MLC_USE_I8 | MLC_USE_I32 | MLC_USE_BYTES", "kernel"),
        ("float y = mlc_floor_f32(x);", "MLC_USE_ROUNDING", "kernel"),
        ("double y = mlc_floor_f64(x);", "MLC_USE_LIBM", "kernel"),
        ("mlc_scatter(a, b, c, d, 1, 2, 4, tid, threads);", "0", "library"),
        ("mlc_argsort_ui64(a, b, 1, tid, threads);", "MLC_USE_I64 | MLC_USE_ORDER", "library"),
    ],
)
def test_parts_of_a_text(text: str, parts: str, header: str) -> None:
    assert unit([text], {header} - {"kernel"}) == f'#define MLC_PARTS {parts}\n#include "mlc_{header}.h"\n\n{text}'
