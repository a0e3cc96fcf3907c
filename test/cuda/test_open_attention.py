"""Attention of any number of queries, keys and batches in one kernel on the CUDA target, emulated on the CPU, against
NumPy in float64: one artifact for all lengths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator import needed
from launcher import Program
from onnx import numpy_helper
from test_cuda_operators import model_of

import mlc
from benchmarks.gpu.kernels import rows
from mlc.dialects import kernel
from mlc.dialects.poly import LoopNest, schedule_of
from mlc.dialects.types import numpy_dtype

pytestmark = needed
Array = np.ndarray[Any, Any]
HEADS, SIZE, VALUE = 2, 20, 24
ATTENTION = """(T[{b},2,{m},20] q, T[{b},2,{n},20] k, T[{b},2,{n},24] v, T[{m},{n}] mask) => (T[{b},2,{m},24] y) {{
    products = Einsum <equation = "bhmk,bhnk->bhmn"> (q, k)  scores = Add (products, mask)
    weights = Softmax <axis = -1> (scores)  y = MatMul (weights, v) }}"""
EXTENTS = [("b", "m", "n"), ("b", 40, "n"), (1, "m", 45), ("b", 33, 20)]
HALVES = {"float16": "f16", "bfloat16": "bf16"}


def text(b: int | str, m: int | str, n: int | str, element: str = "float") -> str:
    return ATTENTION.format(b=b, m=m, n=n).replace("T[", f"{element}[")


def streamed(made: Program) -> list[LoopNest]:
    """The schedule of the only kernel."""
    (function,) = made.functions.values()
    nests = list(schedule_of(function))
    assert function.origin.plain is None and all(n.streamed for n in nests[:4])
    return nests


def blocks_of(nests: list[LoopNest]) -> tuple[int, int]:
    """The rows and the keys of a block, 0 where their number is known."""
    rows, *_, keys = nests[0].partitions
    return rows.points, keys.points


def feed_of(b: int, m: int, n: int, dtype: Any = np.float32) -> dict[str, Array]:
    """Normal numbers, and a mask of which some keys are -inf, the first one and the last one for no row."""
    rng = np.random.default_rng()
    shapes = {"q": (b, HEADS, m, SIZE), "k": (b, HEADS, n, SIZE), "v": (b, HEADS, n, VALUE), "mask": (m, n)}
    feed = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    feed["mask"][rng.random((m, n)) < 0.3] = -np.inf
    feed["mask"][:, [0, -1]] = rng.standard_normal((m, 2))
    return {name: array.astype(dtype) for name, array in feed.items()}


def reference(feed: dict[str, Array]) -> Array:
    q, k, v, mask = (feed[name].astype(np.float64) for name in ("q", "k", "v", "mask"))
    scores = q @ k.swapaxes(-1, -2) + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True) @ v)


def check(made: Program, b: int, m: int, n: int, error: float = 1e-5, dtype: Any = np.float32) -> None:
    feed = feed_of(b, m, n, dtype)
    expected = reference(feed)
    np.testing.assert_allclose(made.run(feed)["y"].astype(np.float64), expected, atol=error * np.abs(expected).max())


def around(block: int) -> list[int]:
    """Lengths of one point, about one block, and of several."""
    return [1, block - 1, block, block + 1, int(np.random.default_rng().integers(3 * block, 4 * block))]


@pytest.mark.parametrize("extents", EXTENTS, ids=str)
def test_one_kernel_of_any_extents(extents: tuple[int | str, ...], units: Path) -> None:
    made = Program.of(model_of(text(*extents)), units)
    rows, keys = blocks_of(streamed(made))
    assert (rows > 1, keys > 1) == tuple(isinstance(n, str) for n in extents[1:])
    lengths = [around(points) if points else [n] * 5 for points, n in zip((rows, keys), extents[1:], strict=True)]
    for b, m, n in zip((1, 3, 1, 2, 1), lengths[0], np.random.default_rng().permutation(lengths[1]), strict=True):
        check(made, b if extents[0] == "b" else 1, m, n)


@pytest.mark.parametrize("element", HALVES)
def test_fragments_of_any_extents(element: str, units: Path) -> None:
    """Of halves on tensor cores. Blocks that have all their keys have a loop without masks."""
    made = Program.of(model_of(text("b", "m", "n", element)), units)
    rows, keys = blocks_of(nests := streamed(made))
    assert nests[0].block and nests[0].block.mma == "m16n8k16" and rows > 1 and keys > 1
    (function,) = made.functions.values()
    products = [o for o in function.walk() if isinstance(o, kernel.MmaOp)]
    assert {p.held for p in products} == {False, True} and len(products) == 2 * 3  # 20 elements are two steps
    rounding = 2.0**-10 if element == "float16" else 2.0**-7
    for m, n in zip(around(rows), np.random.default_rng().permutation(around(keys)), strict=True):
        check(made, 1, m, n, 4 * rounding, numpy_dtype(HALVES[element]))


@pytest.mark.parametrize("element", ["float", "float16"])
def test_the_sum_of_no_keys_is_0(element: str, units: Path) -> None:
    """As on CPUs, and of onnxruntime; and there may be no queries."""
    model = model_of(text(1, "m", "n", element))
    made, net = Program.of(model, units), mlc.compile(model)
    dtype = np.float16 if element == "float16" else np.float32
    feed = {name: array[..., :0] if name == "mask" else array for name, array in feed_of(1, 5, 2, dtype).items()}
    feed |= {name: feed[name][:, :, :0] for name in "kv"}
    for actual in (made.run(feed)["y"], np.asarray(net(**feed))):
        assert actual.shape == (1, HEADS, 5, VALUE) and not actual.any()
    none = feed_of(1, 2, 7, dtype)
    none |= {"q": none["q"][:, :, :0], "mask": none["mask"][:0]}
    assert made.run(none)["y"].shape == (1, HEADS, 0, VALUE)


def test_a_number_of_keys_that_is_an_expression(units: Path) -> None:
    """Every second one of an input's, and those of a cache and a new one, which are never none."""
    model = model_of("""(float[3,20,20] q, float[3,n,20] rows) => (float[3,20,20] y) {
        first = Constant <value_ints = [0]> ()  end = Constant <value_ints = [100000]> ()
        axis = Constant <value_ints = [1]> ()  step = Constant <value_ints = [2]> ()
        k = Slice (rows, first, end, axis, step)  s = Einsum <equation = "bmk,bnk->bmn"> (q, k)
        w = Softmax <axis = -1> (s)  y = MatMul (w, k) }""")
    made = Program.of(model, units)
    assert any(nest.streamed for function in made.functions.values() for nest in schedule_of(function))
    for n in (0, 1, 129, int(np.random.default_rng().integers(130, 300))):
        q, rows = (np.random.default_rng().standard_normal((3, m, 20)).astype(np.float32) for m in (20, n))
        feed = {"q": q[None], "k": rows[None, :, ::2], "v": rows[None, :, ::2], "mask": np.zeros(())}
        expected = reference(feed)[0] if n else np.zeros((3, 20, 20))
        np.testing.assert_allclose(made.run({"q": q, "rows": rows})["y"], expected, atol=1e-5 * max(expected.max(), 1))


def test_a_constant_mask_of_any_batch(units: Path) -> None:
    """Blocks of keys that it excludes are not executed."""
    model, mask = model_of(text("b", 70, 70)), np.where(np.tri(70, dtype=bool), 0, -np.inf).astype(np.float32)
    del model.graph.input[-1]
    model.graph.initializer.append(numpy_helper.from_array(mask, "mask"))
    made = Program.of(model, units)
    streamed(made)
    feed = feed_of(3, 70, 70) | {"mask": mask}
    expected = reference(feed)
    np.testing.assert_allclose(made.run(feed)["y"], expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    "changes",
    [
        (("@64pt", "@16pt"), ("/64v", "/16v"), ("/64 ", "/16 ")),
        (("@32ps", "@48ps"), ("/32v", "/16v")),
        (("c/64 ", "c/16 "), ("i2/64 ", "i2 ")),
    ],
    ids=["rows", "keys", "tiles"],
)
def test_schedules_of_a_user(changes: tuple[tuple[str, str], ...], units: Path) -> None:
    """Other blocks, tiles that are smaller than a block, and tiles of one row."""
    model = model_of(text("b", "m", "n"))
    (function,) = Program.of(model, units).functions.values()
    line = " & ".join(map(str, schedule_of(function)))
    for old, new in changes:
        line = line.replace(old, new)
    made = Program.of(model, units, schedule=f"{function.sym_name.data}: {line}")
    assert " & ".join(map(str, streamed(made))) == line
    for m, n in ((1, 1), (65, 49), (130, 97)):
        check(made, 1, m, n)


def test_blocks_of_a_symbolic_number_of_rows(units: Path) -> None:
    """They are not the smallest ones that few rows would have: there may be many."""
    nests = streamed(Program.of(model_of(text(1, "m", "n", "float16")), units))
    assert blocks_of(nests)[0] == 64
    known = streamed(Program.of(model_of(text(1, 256, "n", "float16")), units))
    assert known[0].partitions[0].size(256) == 16


def test_counts_for_given_sizes() -> None:
    """``python -m benchmarks.gpu.kernels … --sizes keys=1024``: blocks of 64 queries read all keys and values."""
    sizes = {"queries": 512, "keys": 1024}
    (found,) = rows("attention_dynamic_2048x12x64", "cuda:sm_80", "default", compiled=False, sizes=sizes)
    queries, keys = 2 * 12 * 512 * 64, 2 * 12 * 1024 * 64
    assert found["blocks"] == 12 * 8 and found["MFLOP"] >= 4 * 12 * 512 * 1024 * 64 / 1e6
    assert found["MB"] == round((2 * queries + 8 * 2 * keys) / 1e6, 2)
