"""Kernels are divided among C files by the size of their text, in order."""

from __future__ import annotations

import pytest

from mlc.passes.codegen.emit_c import groups

SIZES = {"a": 70, "b": 40, "c": 200, "d": 10, "e": 99, "f": 1}


@pytest.mark.parametrize(
    ("file_bytes", "files"),
    [(100, ["ab", "c", "de", "f"]), (0, ["a", "b", "c", "d", "e", "f"]), (1000, ["abcdef"]), (421, ["abcdef"])],
)
def test_a_file_ends_with_the_kernel_that_fills_it(file_bytes: int, files: list[str]) -> None:
    strings = {symbol: size * "x" for symbol, size in SIZES.items()}
    assert groups(strings, file_bytes) == [list(symbols) for symbols in files]
    assert groups({}, file_bytes) == []
