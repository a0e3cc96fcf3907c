"""Fragments, operands in shared memory and matrix descriptors are those of CuTe (CUTLASS 4.7.0), an independent source.

``cute_layouts.cu`` prints ``cute_layouts.txt``. Layouts of CuTe map the digits of indices, fastest
first, by strides.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from emulator import DEVICE, HERE, needed

from mlc.dialects.kernel.linear_layout import LinearLayout
from mlc.dialects.kernel.mma import MMA_SHAPES, MmaShape
from mlc.passes.device.distribution.fragments import factor, sums
from mlc.passes.device.distribution.warpgroup import operand_layout, sums_of_warpgroups

CUTE = (Path(__file__).parent / "cute_layouts.txt").read_text()
FRAGMENTS = re.findall(r"^(m16\S+): left (\S+) right (\S+) sums (\S+)$", CUTE, re.M)
OF_WARPGROUPS = re.findall(r"^m64n(\d+)k16: .* sums (\S+)$", CUTE, re.M)
OPERANDS = re.findall(r"^(\w+) (along|across) (\d+): along([ \d]+) across([ \d]+) descriptors([ \w]+)$", CUTE, re.M)
SIZES = {"halves": 2, "bytes": 1, "floats": 4}


def cute(text: str, thread: int, value: int) -> int:
    """A layout ``((_4,_8),(_2,_2)):((_32,_1),(_16,_8))`` of a thread and a value."""
    shape, strides = (_modes(part) for part in text.replace("_", "").split(":"))
    total = 0
    for index, extents, steps in zip((thread, value), shape, strides, strict=True):
        for extent, step in zip(extents, steps, strict=True):
            index, digit = divmod(index, extent)
            total += digit * step
    return total


def _modes(text: str) -> list[list[int]]:
    modes = re.findall(r"\(([\d,]+)\)|(\d+)", text[1:-1])
    return [[int(n) for n in (inner or single).split(",")] for inner, single in modes]


def place(coordinate: tuple[int, ...], wide: int) -> int:
    """Of (k, x), as CuTe numbers the elements of a factor of so many rows or columns."""
    return coordinate[1] + wide * coordinate[0]


@pytest.mark.parametrize("name, left, right, total", FRAGMENTS)
def test_fragments_of_a_warp(name: str, left: str, right: str, total: str) -> None:
    shapes = [shape for shape in MMA_SHAPES.values() if str(shape) == name]
    assert shapes
    for shape in shapes:
        for lane in range(32):
            _check_factor(factor(shape, left=True), shape, left, lane, shape.rows)
            _check_factor(factor(shape, left=False), shape, right, lane, shape.columns)
            layout = sums((shape.rows, shape.columns), (1,), shape)
            for r in range(4):
                m, n = layout(register=r, lane=lane)
                assert m + shape.rows * n == cute(total, lane, r)


def _check_factor(layout: LinearLayout, shape: MmaShape, text: str, lane: int, wide: int) -> None:
    for r in range(1 << len(layout.of_input("register"))):
        for element in range(shape.packed):
            at = layout(register=r, element=element, lane=lane)
            assert place(at, wide) == cute(text, lane, r * shape.packed + element)


@pytest.mark.parametrize("columns, total", OF_WARPGROUPS)
def test_sums_of_a_warpgroup(columns: str, total: str) -> None:
    layout = sums_of_warpgroups((64, int(columns)), (4,))
    for thread in (*range(0, 128, 7), 31, 32, 127):
        for r in range(int(columns) // 2):
            m, n = layout(register=r, lane=thread % 32, warp=thread // 32)
            assert m + 64 * n == cute(total, thread, r)


@pytest.mark.parametrize("type_, way, steps, along, across, _", OPERANDS)
def test_operands_in_shared_memory(type_: str, way: str, steps: str, along: str, across: str, _: str) -> None:
    count, size = int(steps), SIZES[type_]
    layout = operand_layout(128, count, way == "across", size)
    strides = (1, 128) if way == "across" else (count, 1)  # of a row and of a step, in row-major order
    for stride, wanted in zip(strides, (across, along), strict=True):
        found = [layout(offset=stride << bit)[0] for bit in range(len(wanted.split()))]
        assert found == [int(n) for n in wanted.split()]


@needed
def test_matrix_descriptors(tmp_path: Path) -> None:
    """The bits of each step's descriptor, of an operand at address 0."""
    lines = [f"show<{SIZES[type_]}, {steps}, {str(way == 'across').lower()}>();" for type_, way, steps, *_ in OPERANDS]
    source = tmp_path / "descriptors.cpp"
    source.write_text(PROGRAM.replace("LINES", " ".join(lines)))
    command = ["g++", "-std=c++17", "-O1", "-w", f"-I{HERE}", f"-I{DEVICE}", source, HERE / "emulation.cpp"]
    subprocess.run([*command, "-o", tmp_path / "descriptors"], check=True)
    found = subprocess.run([tmp_path / "descriptors"], check=True, capture_output=True, text=True).stdout
    assert found.split() == [each for *_, descriptors in OPERANDS for each in descriptors.split()]


PROGRAM = """#include "emulation.h"
#include "mlc_cuda_warpgroup.h"
#include <stdio.h>
template <int SIZE, int STEPS, bool ACROSS> void show() {
  for (int step = 0; step < STEPS; step += 32 / SIZE) {
    const mlc_matrix first = mlc_matrix_of<SIZE, STEPS, ACROSS>(nullptr);
    const mlc_matrix m = mlc_matrix_after(first, step * (ACROSS ? 128 : SIZE));
    printf("%016lx ", (unsigned long)mlc_descriptor((uint64_t)m.start, m.leading, m.stride, m.swizzle));
  }
}
int main() { LINES }
"""
