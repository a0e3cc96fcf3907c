"""Kernels are divided among C files by the size of their text, in order."""

from __future__ import annotations

import pytest

from mlc.passes.codegen.emit_c import groups, unit

SIZES = {"a": 70, "b": 40, "c": 200, "d": 10, "e": 99, "f": 1}


@pytest.mark.parametrize(
    ("file_bytes", "files"),
    [(100, ["ab", "c", "de", "f"]), (0, ["a", "b", "c", "d", "e", "f"]), (1000, ["abcdef"]), (421, ["abcdef"])],
)
def test_a_file_ends_with_the_kernel_that_fills_it(file_bytes: int, files: list[str]) -> None:
    strings = {symbol: size * "x" for symbol, size in SIZES.items()}
    assert groups(strings, file_bytes) == [list(symbols) for symbols in files]
    assert groups({}, file_bytes) == []


USES = {
    "MLC_NO_STRIDED_LOADS": "f32x8 v = mlc_load_every_2_f32x8(p);",
    "MLC_NO_TRANSPOSITIONS": "mlc_transpose_f32x8(v);",
}


@pytest.mark.parametrize("used", [(), tuple(USES), *((macro,) for macro in USES)])
def test_a_file_leaves_out_what_no_kernel_needs(used: tuple[str, ...]) -> None:
    file = unit(["int a;", *(USES[macro] for macro in used)])
    before, _, after = file.partition('#include "mlc_kernel.h"')
    assert {line.removeprefix("#define ") for line in before.split("\n") if line} == set(USES) - set(used)
    assert after.split() == " ".join(["int a;", *(USES[macro] for macro in used)]).split()


def test_each_exchange_is_a_transposition() -> None:
    assert "MLC_NO_TRANSPOSITIONS" not in unit(["mlc_exchange_4_f32x8(v);"])
