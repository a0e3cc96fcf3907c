"""Products whose blocks share the steps of tiles (stream-K), in any order of blocks, against float64."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from emulator import DEVICE, Emulator, needed
from fake_gpu import Gpu, model, random
from launcher import Program
from test_cubins import USED, kernels
from test_cuda_operators import model_of, scheduled, tf32
from test_tensor_cores import reals

import mlc
from mlc import target
from mlc.dialects.poly import schedule_of, schedule_text
from mlc.passes.codegen.cuda.cuda_unit import unit

pytestmark = needed
MMA, SIMT = "{m}/32p {n}/32vp | {k}/32 | warps=2x2 mma=m16n8k16", "{m}/32p {n}/32vp | {k}/16 | warps=4"
TEXT = "(TYPE[70,SUM] a, TYPE[SUM,100] b, float[100] c) => (float[70,100] y) { m = MatMul (a, b) "
HALVES = TEXT.replace("TYPE", "float16").replace("SUM", "300") + "f = Cast <to = 1> (m) s = Add (f, c) y = Relu (s) }"
FLOATS = TEXT.replace("TYPE", "float").replace("SUM", "301") + "s = Add (m, c) y = Relu (s) }"
ORDERS = list(product((False, True), repeat=2))  # the last block first; nobody learns that others have arrived


def made(text: str, band: str, units: Path, **options: Any) -> Program:
    source = model_of(text)
    return Program.of(source, units, schedule=scheduled(source, units, band), **options)


def shared(source: onnx.ModelProto, units: Path, items: str) -> str:
    """The chosen schedule of the first kernel but of padding, with more items for its thread blocks."""
    functions = Program.of(source, units).functions
    name, fn = next((name, fn) for name, fn in functions.items() if name != "pad_0")
    text = schedule_text(schedule_of(fn))
    return f"{name}: {text}{' ' if text.count('|') == 3 else ' | '}{items}\n"


def in_all_orders(program: Program, feed: dict[str, np.ndarray]) -> np.ndarray:
    """The result, which has the same bits in each order of the blocks; each run leaves the semaphores as it found
    them."""
    results = []
    for order in ORDERS:
        program.emulator.order(*order)
        results.append(program.run(feed)["y"])
        assert len(program.state) == 1 and not any(memory.any() for memory in program.state.values())
    assert all(np.array_equal(results[0], each) for each in results[1:])
    return results[0]


# 12 tiles of 10 steps: waves of 5 and 11 tiles whose last one and rest are shared; parts of a tile in several blocks
@pytest.mark.parametrize("count", [5, 11, 33, 500])
def test_products_of_halves_with_what_follows_them(count: int, units: Path) -> None:
    program = made(HALVES, f"{MMA} streamk={count}", units)
    assert "mlc_mma_f16(" in "".join(program.kernels.strings.values())
    a, b, c = reals(70, 300, dtype=np.float16), reals(300, 100, dtype=np.float16), reals(100)
    wanted = np.maximum((a.astype(float) @ b.astype(float)).astype(np.float16).astype(float) + c, 0)
    step = np.spacing(np.abs(wanted - c).max().astype(np.float16)).astype(float)
    np.testing.assert_allclose(in_all_orders(program, {"a": a, "b": b, "c": c}), wanted, rtol=0, atol=1.01 * step)


@pytest.mark.parametrize("numerics", ["strict", "default", "relaxed"])
def test_products_of_floats_whose_last_steps_are_no_whole_group(numerics: str, units: Path) -> None:
    program = made(FLOATS, f"{SIMT} streamk=7", units, numerics=numerics)
    a, b, c = tf32(reals(70, 301)), tf32(reals(301, 100)), reals(100)
    wanted = np.maximum(a.astype(float) @ b.astype(float) + c, 0)
    actual = in_all_orders(program, {"a": a, "b": b, "c": c})
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-6 * wanted.max())


def test_bytes_are_exact_and_tiles_of_a_batch_are_shared_in_raster_order(units: Path) -> None:
    text = "(uint8[3,70,200] a, int8[3,200,50] b) => (int32[3,70,50] y) { y = MatMulInteger (a, b) }"
    random_ = np.random.default_rng()
    a, b = random_.integers(0, 256, (3, 70, 200), np.uint8), random_.integers(-128, 128, (3, 200, 50), np.int8)
    source = model_of(text)
    program = Program.of(source, units, schedule=shared(source, units, "raster=2 streamk=10"))
    wanted = a.astype(np.int32) @ b.astype(np.int32)
    np.testing.assert_array_equal(in_all_orders(program, {"a": a, "b": b}), wanted)


def test_a_convolution_and_rows_whose_number_is_known_at_run_time(units: Path) -> None:
    text = "(float[n,6,9,9] x, float[40,6,3,3] w) => (float[n,40,9,9] y) { y = Conv <pads = [1,1,1,1]> (x, w) }"
    source = model_of(text)
    program = Program.of(source, units, schedule=shared(source, units, "streamk=5"))
    x, w = reals(2, 6, 9, 9), reals(40, 6, 3, 3)
    padded = np.pad(x.astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    wanted = np.einsum("nchwij,fcij->nfhw", windows, w.astype(float))
    actual = in_all_orders(program, {"x": x, "w": w})
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())


ARRIVE = """static bool mlc_faulty(int32_t *semaphore, int blocks) {{
  {before}
  int before = 0;
  if (blocks > 1 && threadIdx.x == 0) before = {arrival};
  {after}
  return blocks == 1 || __syncthreads_or(before == blocks - 1);
}}
"""
SOUND = {"before": "__syncthreads();", "arrival": "mlc_emulated_arrive(semaphore, blocks - 1)", "after": ""}


@pytest.mark.parametrize(
    "fault, words",
    [
        ({}, ""),
        ({"before": ""}, "a read of a write"),  # thread 0 arrives before other threads have written
        ({"arrival": "*semaphore == blocks - 1 ? *semaphore = 0, blocks - 1 : (*semaphore)++"}, "two writes|a read of"),
        ({"after": "return true;"}, "a write of what is read|a read of"),  # each block adds what is there
    ],
)
def test_an_arrival_without_its_order_is_found(fault: dict[str, str], words: str, units: Path) -> None:
    """The kernel with an arrival of its own, which is sound or has a fault."""
    program = made(HALVES, f"{MMA} streamk=33", units)
    (text,) = (t for t in program.kernels.strings.values() if "mlc_arrive(" in t)
    faulty = ARRIVE.format(**{**SOUND, **fault}) + text.replace("mlc_arrive(", "mlc_faulty(")
    program.emulator = Emulator([faulty], units)
    feed = {"a": reals(70, 300, dtype=np.float16), "b": reals(300, 100, dtype=np.float16), "c": reals(100)}
    if not words:
        program.run(feed)
        return
    with pytest.raises(AssertionError, match=words):
        program.run(feed)


@pytest.mark.parametrize(
    "band, words, options",
    [
        ("{m}/32+8 {n}/32v | {k}", "tiles of several sizes", {}),
        ("{m}/64p {n}/64vp | {k}/64 | warps=4", "products of warpgroups have no shares", {"target": "cuda:sm_90"}),
        ("{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma", "leave out copy=tma", {"target": "cuda:sm_90"}),
        ("{m}/32p {n}/32vp | {k}/32 | warps=2x2 streamk=0", "write streamk=108", {}),
    ],
)
def test_what_has_no_shares(band: str, words: str, options: dict[str, Any], units: Path) -> None:
    text = "(float16[72,320] a, float16[320,128] b) => (float16[72,128] y) { y = MatMul (a, b) }"
    band += "" if "streamk" in band else " streamk=9" if "warps" in band else " | streamk=9"
    if options:
        options = {"target": target.get(options["target"])}
    with pytest.raises(mlc.InputError, match=words):
        made(text, band, units, **options)


def test_a_maximum_has_no_shares(units: Path) -> None:
    source = model_of("(float[600,300] a) => (float[600,1] y) { y = ReduceMax <axes = [1]> (a) }")
    with pytest.raises(mlc.InputError, match="not the result of one sum over one iterator"):
        Program.of(source, units, schedule=shared(source, units, "streamk=9"))


def test_an_artifact_runs_again_with_the_semaphores_of_each_launch(gpu: Gpu, units: Path, tmp_path: Path) -> None:
    """Two launches of one kernel that run side by side have semaphores of their own, which no caller sees."""
    source = model(
        "net (float[n,96] x, float[n,96] z) => (float[n,40] y) { a = MatMul(x, w) b = MatMul(z, v) y = Add(a, b) }",
        w=random(96, 40), v=random(96, 40),
    )  # fmt: skip
    (tmp_path / "mine").write_text(shared(source, units, "streamk=5"))
    net = mlc.compile(source, target="cuda:sm_90", schedule=str(tmp_path / "mine"))
    assert not net.states
    weights = [onnx.numpy_helper.to_array(w).astype(float) for w in source.graph.initializer]
    for rows in (70, 70, 33):
        x, z = random(rows, 96), random(rows, 96)
        wanted = x @ weights[0] + z @ weights[1]
        np.testing.assert_allclose(net(x, z), wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


PRIME = "(float[200,509] a, float[509,600] b) => (float[200,600] y) { y = MatMul (a, b) }"


def test_shares_are_chosen_where_no_equal_parts_fill_the_multiprocessors(units: Path) -> None:
    """40 tiles for 108 multiprocessors, of a sum whose number of terms has no divisors."""
    program = Program.of(model_of(PRIME), units)
    (fn,) = program.functions.values()
    assert "streamk=108" in schedule_text(schedule_of(fn))
    a, b = reals(200, 509), reals(509, 600)
    wanted = a.astype(float) @ b.astype(float)
    np.testing.assert_allclose(program.run({"a": a, "b": b})["y"], wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_shared_tiles_spill_no_registers(arch: str, units: Path, tmp_path: Path) -> None:
    halves = "(float16[1270,2048] a, float16[2048,1280] b) => (float16[1270,1280] y) { y = MatMul (a, b) }"
    sources = kernels(PRIME)
    large = [f"{{m}}/128p {{n}}/128vp | {{k}}/32 | warps={warps}" for warps in ("2x4", "4x2") if arch == "sm_80"]
    for tile in (*large, "{m}/128p {n}/64vp | {k}/32 | warps=2x2", "{m}/64p {n}/64vp | {k}/32 | warps=2x2"):
        line = scheduled(model_of(halves), units, f"{tile} mma=m16n8k16 streamk=108")
        sources |= kernels(halves, schedule=line)
    (tmp_path / "k.cu").write_text(unit(list(sources.values())))
    command = ["nvcc", "-cubin", f"-arch={arch}", f"-I{DEVICE}", "-Xptxas", "-v", tmp_path / "k.cu"]
    done = subprocess.run([*command, "-o", tmp_path / "k.cubin"], capture_output=True, text=True, check=True)
    assert {(int(stack), int(spills)) for _, stack, spills, _ in USED.findall(done.stderr)} == {(0, 0)}
