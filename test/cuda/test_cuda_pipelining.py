"""Pipelined copies of products, emulated: what asynchronous copies bring is that of float64, for any extents."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulator import needed
from launcher import Program
from test_cuda_operators import compare, feed_of, model_of, scheduled

import mlc
from mlc.dialects import kernel

pytestmark = needed

PRODUCT = "(float[{m},{k}] a, float[{k},{n}] b) => (float[{m},{n}] y) {{ y = MatMul (a, b) }}"


def product(m: object, k: object, n: object, units: Path, band: str = "{m}/32p {n}/64vp") -> Program:
    """With a schedule of the whole sum: a symbolic one has parts by default, so names come from known extents."""
    known = [each if isinstance(each, int) else 64 for each in (m, k, n)]
    schedule = scheduled(model_of(PRODUCT.format(**dict(zip("mkn", known, strict=True)))), units, band)
    return Program.of(model_of(PRODUCT.format(m=m, k=k, n=n)), units, schedule=schedule)


def text_of(made: Program) -> str:
    (text,) = made.kernels.strings.values()
    return text


def check(made: Program, m: int, k: int, n: int) -> None:
    """Compare with float64."""
    random = np.random.default_rng()
    a, b = random.standard_normal((m, k)).astype("f4"), random.standard_normal((k, n)).astype("f4")
    (y,) = made.run({"a": a, "b": b}).values()
    wanted = a.astype("f8") @ b.astype("f8")
    np.testing.assert_allclose(y, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "m, k, n, depth",
    [
        (33, 77, 68, 4),  # whole chunks of 16 bytes, 13 steps are left
        (21, 47, 66, 2),  # as many buffers as groups of steps; chunks of 8 bytes
        (40, 64, 71, 4),  # chunks of 4 bytes; masks on both axes
        (70, 16, 100, 1),  # one group: nothing to pipeline
    ],
)
def test_rings_for_any_extents(m: int, k: int, n: int, depth: int, units: Path) -> None:
    made = product(m, k, n, units)
    chunk = 4 if n % 4 == 0 else 2 if n % 2 == 0 else 1
    assert (f"mlc_copy_async<float, {chunk}>" in text_of(made)) == (depth > 1)
    assert (f"mlc_async_wait<{depth - 2}>();" in text_of(made)) == (depth > 1)
    check(made, m, k, n)


@pytest.mark.parametrize("k", [1, 15, 16, 40, 64, 83])
def test_a_symbolic_sum_of_fewer_steps_than_buffers(k: int, units: Path) -> None:
    made = product("m", "k", "n", units)
    assert "mlc_async_wait<2>();" in text_of(made)
    check(made, 37, k, 50)


PART = """(float[33,72] a, float[5000] s) => (float[33,68] y) {{
  b = Constant<value = int64[1] {{{first}}}>() e = Constant<value = int64[1] {{{last}}}>()
  d = Constant<value = int64[2] {{72, 68}}>()
  p = Slice(s, b, e) q = Reshape(p, d) y = MatMul(a, q) }}"""


@pytest.mark.parametrize("first", range(4))
def test_a_part_that_is_not_aligned_is_copied_by_elements(first: int, units: Path) -> None:
    """Where the part begins decides; of whole tensors the host program sees to it."""
    made = Program.of(model_of(PART.format(first=first, last=first + 72 * 68)), units)
    assert re.findall(r"mlc_is_aligned<16>\((\w+)\)", text_of(made)) == (4 * ["b1"] if first else [])
    random = np.random.default_rng()
    a, s = random.standard_normal((33, 72)).astype("f4"), random.standard_normal(5000).astype("f4")
    wanted = a.astype("f8") @ s[first : first + 72 * 68].reshape(72, 68).astype("f8")
    (y,) = made.run({"a": a, "s": s}).values()
    np.testing.assert_allclose(y, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("depth", [1, 2, 3, 7])
def test_the_schedule_says_how_deep(depth: int, units: Path) -> None:
    made = product(37, 90, 68, units, f"{{m}}/32p {{n}}/64vp | {{k}}/8 | depth={depth}")
    assert (f"mlc_async_wait<{depth - 2}>();" in text_of(made)) == (depth > 1)
    check(made, 37, 90, 68)


def test_a_ring_that_does_not_fit_is_refused(units: Path) -> None:
    with pytest.raises(mlc.InputError, match=r"depth=10 needs \d+ bytes of shared memory, of 166912; 9 fit"):
        product(1300, 900, 400, units, "{m}/128p {n}/128vp | {k} | depth=10")


def test_more_shared_memory_than_a_block_has_by_itself(units: Path) -> None:
    """The launch asks for it: two blocks of 256 threads fit on a multiprocessor."""
    made = product(130, 70, 140, units, "{m}/128p {n}/128vp")
    assert "MLC_DYNAMIC_SHARED(dynamic, 68608);" in text_of(made) and "__shared__" not in text_of(made)
    check(made, 130, 70, 140)


@pytest.mark.parametrize("strides, channels", [(1, 7), (2, 24)])
def test_pixels_at_computed_offsets(strides: int, channels: int, units: Path) -> None:
    text = f"(float[2,{channels},15,17] x, float[40,{channels},3,3] w) => (float[2,40,h,v] y) "
    text += f"{{ y = Conv <pads = [1,1,1,1], strides = [{strides},{strides}]> (x, w) }}"
    model = model_of(text.replace("h,v", "15,17" if strides == 1 else "8,9"))
    made = Program.of(model, units)
    (fn,) = (f for f in made.functions.values() if any(isinstance(o, kernel.AsyncGatherOp) for o in f.walk()))
    assert sum(isinstance(o, kernel.BarrierOp) for o in fn.walk()) == 2
    compare(model, units, feed_of(model))


def test_one_barrier_an_iteration(units: Path) -> None:
    """One before the first tile's copies and one in the loop, which both protects and publishes."""
    assert text_of(product(33, 77, 68, units)).count("__syncthreads();") == 2


def test_several_tiles_of_a_block_share_a_ring(units: Path) -> None:
    """A grid that is smaller than the tiles: the next tile's first copies overwrite what was read."""
    made = product(100, 50, 132, units)
    (fn,) = made.functions.values()
    fn.launch = replace(fn.launch, grid=2)
    check(made, 100, 50, 132)
