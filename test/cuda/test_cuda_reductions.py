"""Reductions to few results on the CUDA target, emulated on the CPU, against onnxruntime: sums along every axis, and
products with few rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator import needed
from launcher import Program
from test_cuda_operators import compare, feed_of, model_of

from mlc.dialects.poly import schedule_of

pytestmark = needed


def drawn(low: int, high: int) -> int:
    return int(np.random.default_rng().integers(low, high))


def reduction(name: str, axis: int, *shape: int) -> str:
    made = [1 if n == axis else extent for n, extent in enumerate(shape)]
    types = [f"float[{','.join(map(str, each))}]" for each in (shape, made)]
    axes = f"<axes = [{axis}], keepdims = 1>" if name != "ReduceSum" else "<keepdims = 1>"
    given, values = ("(x, a)", f"a = Constant <value_ints = [{axis}]> ()") if name == "ReduceSum" else ("(x)", "")
    return f"({types[0]} x) => ({types[1]} y) {{ {values} s = {name} {axes} {given}  y = Exp (s) }}"


def rule(text: str, units: Path) -> str:
    fn, *_ = Program.of(model_of(text), units).functions.values()
    return str(schedule_of(fn)[0])


@pytest.mark.parametrize("name, axis", [("ReduceMax", 0), ("ReduceMean", 1), ("ReduceMin", 2), ("ReduceSum", 0)])
def test_a_reduction_along_each_axis(name: str, axis: int, units: Path) -> None:
    shape = [drawn(2, 20), drawn(2, 9), drawn(200, 300)]
    shape[axis] = drawn(33, 90)
    model = model_of(reduction(name, axis, *shape))
    compare(model, units, feed_of(model))


@pytest.mark.parametrize("rows", [1, 3, 8])
@pytest.mark.parametrize("transposed", [0, 1])
def test_a_product_with_few_rows(rows: int, transposed: int, units: Path) -> None:
    """Matrices of either layout; sums that are no multiple of a block's threads, and a strip beyond the columns."""
    n, k = drawn(900, 1000), drawn(70, 300)
    shape = (n, k) if transposed else (k, n)
    text = f"(float[{rows},{k}] x, float[{shape[0]},{shape[1]}] w, float[{n}] b) => (float[{rows},{n}] y) "
    text += f"{{ y = Gemm <transB = {transposed}> (x, w, b) }}"
    assert rule(text, units).startswith("strips: S0 S1 | ")
    model = model_of(text)
    compare(model, units, feed_of(model))


def test_columns_of_a_symbolic_number(units: Path) -> None:
    model = model_of("(float[50,n] x) => (float[1,n] y) { y = ReduceMax <axes = [0]> (x) }")
    for n in (1, 33, 300):
        compare(model, units, feed_of(model, n=n))


@pytest.mark.parametrize(
    "text",
    [
        "(float[n,40] x) => (float[1,40] y) { a = Constant <value_ints = [0]> ()  y = ReduceSum (x, a) }",
        "(float[b,n,45] x) => (float[b,45] y) { y = ReduceMean <axes = [1], keepdims = 0> (x) }",
        "(float[b,n,m] x) => (float[m] y) {a = Constant <value_ints = [0, 1]> () y = ReduceSum <keepdims = 0> (x, a) }",
        "(float[n,m] x) => (int64[1,m] y) { y = ArgMax <axis = 0> (x) }",
        "(float[1,n] x, float[n,50] w) => (float[1,50] y) { y = MatMul (x, w) }",
    ],
)
def test_strips_of_an_open_number_of_terms(text: str, units: Path) -> None:
    """Threads of a block share the terms, and read neighbouring elements: none reads a whole column."""
    assert rule(text, units).startswith("strips: ")
    model = model_of(text)
    for n, m in ((1, 1), (drawn(30, 70), drawn(30, 70)), (drawn(200, 300), 33)):
        compare(model, units, feed_of(model, n=n, m=m, b=drawn(1, 4)))


@pytest.mark.parametrize(
    "text, parts",
    [
        ("(float[64,3000] x) => (float y) { y = ReduceMax <keepdims = 0> (x) }", "rows: S0 | part@"),
        ("(float[n,m] x) => (float y) { y = ReduceMean <keepdims = 0> (x) }", "rows: S0 | part | "),
        ("(float[n,3,m,k] x) => (float[1,3,1,1] y) { y = ReduceMean <axes = [0,2,3]> (x) }", "rows: S0 | part i1 | "),
    ],
)
def test_blocks_share_a_total(text: str, parts: str, units: Path) -> None:
    """One block would read all of the array: parts of a constant size, or those of its outermost iterator."""
    model = model_of(text)
    program = Program.of(model, units)
    name = next(name for name in program.functions if name.endswith("_parts"))
    assert str(schedule_of(program.functions[name])[0]).startswith(parts)
    for n, m in ((1, 1), (drawn(2, 9), drawn(30, 70))):
        compare(model, units, feed_of(model, n=n, m=m, k=drawn(1, 30)))


@pytest.mark.parametrize(
    "text",
    [
        "(float[n] x) => (float y) { y = ReduceMean <keepdims = 0> (x) }",
        "(float[n] x) => (float[1] y) { z = Exp (x)  y = ReduceMax (z) }",
        "(float[n] x, float[n] z) => (float y) { y = MatMul (x, z) }",
    ],
)
def test_blocks_share_the_sum_of_an_open_array(text: str, units: Path) -> None:
    """A part has 4096 elements, the last one fewer; an array of few of them has one part."""
    model = model_of(text)
    program = Program.of(model, units)
    name = next(name for name in program.functions if name.endswith("_parts"))
    assert " | part | " in str(schedule_of(program.functions[name])[0])
    for n in (1, 4096, 4097, drawn(9000, 20000)):
        compare(model, units, feed_of(model, n=n))


@pytest.mark.parametrize(
    "element, shape, axis, options",
    [
        ("float", (1, 1100), 1, ""),
        ("double", (2, 600), 1, "<exclusive = 1, reverse = 1>"),
        ("int64", (3, 300, 5), 1, "<reverse = 1>"),  # strided lines, by blocks
        ("int32", (3, 257), 1, "<exclusive = 1>"),
        ("float", (4000, 5), 1, ""),  # short lines, a thread each
        ("float", (3, 700), 0, "<exclusive = 1>"),
        ("float", (1, 5000), 1, "<reverse = 1>"),  # a long line: several steps of a block
        ("float", (2200, 300), 1, ""),  # a warp a line
        ("double", (1500, 270), 1, "<exclusive = 1, reverse = 1>"),
        ("int32", (40, 260, 60), 1, ""),  # strided
    ],
)
def test_running_sums(element: str, shape: tuple[int, ...], axis: int, options: str, units: Path) -> None:
    sizes = ",".join(map(str, shape))
    values = f"a = Constant <value_int = {axis}> ()"
    text = f"({element}[{sizes}] x) => ({element}[{sizes}] y) {{ {values}  y = CumSum {options} (x, a) }}"
    model = model_of(text)
    compare(model, units, feed_of(model))


def test_integers_and_logical_values(units: Path) -> None:
    for element, name in (("int64", "ReduceMax"), ("int32", "ReduceMin"), ("double", "ReduceProd")):
        model = model_of(f"({element}[40,45] x) => ({element}[1,45] y) {{ y = {name} <axes = [0]> (x) }}")
        compare(model, units, feed_of(model))


def test_a_mean_of_pixels_reads_contiguously(units: Path) -> None:
    """Rows and columns of an image are one iterator, along which lanes are."""
    text = "(float[2,300,7,7] x) => (float[2,300,1,1] y) { y = GlobalAveragePool (x) }"
    assert rule(text, units).endswith("| i2_i3/49v")
    model = model_of(text)
    compare(model, units, feed_of(model))


@pytest.mark.parametrize(
    "text",
    [
        "(float[33,1536] a, float[1536,70] b, float[70] c) => (float[33,70] y) { d = MatMul (a, b)  y = Add (d, c) }",
        "(float[2,96,7,9] x, float[40,96,3,3] w) => (float[2,40,7,9] y) "
        "{ c = Conv <pads = [1,1,1,1]> (x, w)  y = Relu (c) }",
        "(float[1,8192] x, float[8192,70] w) => (float[1,70] y) { y = MatMul (x, w) }",
        "(float[n,2048] a, float[2048,33] b) => (float[n,33] y) { y = MatMul (a, b) }",
    ],
)
def test_blocks_share_a_long_sum(text: str, units: Path) -> None:
    """Few results of long sums: a kernel of parts, and one that adds them and computes the rest."""
    model = model_of(text)
    program = Program.of(model, units)
    assert any(name.endswith("_parts") for name in program.functions)
    compare(model, units, feed_of(model, n=19))


def test_parts_are_added_in_one_order(units: Path) -> None:
    model = model_of("(float[9,4096] a, float[4096,20] b) => (float[9,20] y) { y = MatMul (a, b) }")
    program, feed = Program.of(model, units), feed_of(model)
    np.testing.assert_array_equal(program.run(feed)["y"], program.run(feed)["y"])
