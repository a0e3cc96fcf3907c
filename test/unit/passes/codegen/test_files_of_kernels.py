"""Kernels are divided among C files by the size of their text, in order, so that few files change with a kernel."""

from __future__ import annotations

import numpy as np
import pytest

from mlc.driver.toolchain.link import LOOP_UNITS
from mlc.passes.codegen.emit_c import LOOPS, groups

BYTES = 1000


def random_kernels() -> dict[str, str]:
    rng = np.random.default_rng()
    return {f"k_{rng.integers(1 << 60):x}": int(size) * "x" for size in rng.integers(1, 600, 80)}


def test_files_have_all_kernels_in_order_and_about_as_many_bytes() -> None:
    strings = random_kernels()
    files = groups(strings, BYTES)
    assert [symbol for file in files for symbol in file] == list(strings)
    sizes = [sum(len(strings[symbol]) for symbol in file) for file in files]
    assert all(BYTES / 2 <= size < 2 * BYTES + 600 for size in sizes[:-1])
    assert BYTES / 2 < np.mean(sizes) < 3 / 2 * BYTES


def test_the_toolchain_knows_files_of_loops_by_their_name() -> None:
    assert f"{LOOPS}_" == LOOP_UNITS


@pytest.mark.parametrize("edit", ["changed", "added", "removed"])
def test_an_edit_changes_few_files(edit: str) -> None:
    strings = random_kernels()
    names = list(strings)
    changed = []
    for n in range(0, len(names), 5):
        new = names[:n] + ["k_new"] * (edit != "removed") + names[n + (edit != "added") :]
        before = {tuple(file) for file in groups(strings, BYTES)}
        after = {tuple(file) for file in groups({name: strings.get(name, 300 * "x") for name in new}, BYTES)}
        changed.append(len(after - before))
    assert np.mean(changed) < 3
    assert len(before) > 10


def test_no_kernels_and_files_of_one() -> None:
    assert groups({}, BYTES) == []
    assert groups({"a": "xx", "b": "x"}, 0) == [["a"], ["b"]]
    assert groups({"a": "xx", "b": "x"}, BYTES) == [["a", "b"]]
