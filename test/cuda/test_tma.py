"""Bulk copies of tensors by specialized warps (TMA, mbarriers), emulated, against float64; their cubins for sm_90a."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator import DEVICE, Emulator, needed
from launcher import Program
from ml_dtypes import bfloat16
from test_cubins import USED, instructions, loops_of, opcodes
from test_cuda_operators import model_of
from test_tensor_cores import LEFT, PLAIN, TRANSPOSED, made, reals, within_a_rounding
from test_warpgroups import BYTES, HGMMA, cut, integers

import mlc
from mlc import target
from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import schedule_of, thread_block_of
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.driver.toolchain import nvrtc
from mlc.options import Options
from mlc.passes.codegen.cuda.cuda_unit import unit
from mlc.pipelines.backends import backend_of
from mlc.tuning.tuner import CANDIDATES

pytestmark = needed

HOPPER = {"target": target.get("cuda:sm_90")}
EVEN = {"70": "200", "77": "136", "100": "152"}  # strides of 16 bytes, and extents beside those of tiles and steps
TILES = [
    "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma",
    "{m}/64p {n}/128vp | {k}/32 | warps=4 copy=tma depth=3",
    "{m}/128p {n}/64vp | {k}/16 | warps=8 copy=tma depth=4",
    "{m}/64p {n}/128vp | {k}/64 | warps=4x2 mma=m64n64k16 copy=tma depth=2",
    "{m}/128p {n}/256vp | {k}/64 | warps=8 copy=tma depth=2",
]


def even(text: str, element: str = "float16") -> str:
    for old, new in EVEN.items():
        text = text.replace(old, new)
    return text.replace("TYPE", element)


@pytest.mark.parametrize("band", TILES)
@pytest.mark.parametrize("element, dtype", [("float16", np.float16), ("bfloat16", bfloat16)])
def test_products(element: str, dtype: Any, band: str, units: Path) -> None:
    program, text = made(model_of(even(PLAIN, element)), units, band, **HOPPER)
    assert "mlc_bulk_copy(" in text and "mlc_copy_async" not in text
    a, b = reals(200, 136, dtype=dtype), reals(136, 152, dtype=dtype)
    wanted = np.maximum(a.astype(float) @ b.astype(float), 0)
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, dtype)


@pytest.mark.parametrize("text", [TRANSPOSED, LEFT])
@pytest.mark.parametrize("steps", [16, 32, 64])
def test_neighbours_along_the_sum_and_across(text: str, steps: int, units: Path) -> None:
    band = f"{{m}}/64p {{n}}/128vp | {{k}}/{steps} | warps=4x2 copy=tma"
    program, printed = made(model_of(even(text)), units, band, **HOPPER)
    assert printed.count("mlc_bulk_copy(") == (3 if text == LEFT else 2)  # 128 columns are two boxes
    shapes = ((136, 200), (136, 152)) if text == LEFT else ((200, 136), (152, 136))
    a, b = (reals(*shape, dtype=np.float16) for shape in shapes)
    wanted = a.astype(float).T @ b.astype(float) if text == LEFT else a.astype(float) @ b.astype(float).T
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, np.float16)


@pytest.mark.parametrize("band", ["{m}/64p {n}/128vp | {k}/ROW | warps=4 copy=tma", TILES[1].replace("32", "HALF")])
def test_operands_of_bytes_and_of_tf32(band: str, units: Path) -> None:
    text = BYTES.replace("LEFT", "uint8").replace("RIGHT", "int8")
    text = text.replace("70", "200").replace("77", "144").replace("100", "152")
    program, printed = made(model_of(text), units, band.replace("ROW", "128").replace("HALF", "64"), **HOPPER)
    assert "mlc_bulk_copy(" in printed and "mlc_copy_async" not in printed
    a, b = integers("uint8", 200, 144), integers("int8", 152, 144)
    wanted = a.astype(np.int64) @ b.astype(np.int64).T
    np.testing.assert_array_equal(program.run({"a": a, "b": b})["y"], wanted)
    band = band.replace("ROW", "32").replace("HALF", "16")
    program, printed = made(model_of(even(TRANSPOSED, "float")), units, band, numerics="relaxed", **HOPPER)
    assert "mlc_bulk_copy(" in printed and "mlc_copy_async" not in printed
    x, y = reals(200, 136), reals(152, 136)
    sums = cut(x).astype(float) @ cut(y).astype(float).T
    np.testing.assert_allclose(program.run({"a": x, "b": y})["y"], sums, rtol=0, atol=2e-6 * np.abs(sums).max())


LARGE = PLAIN.replace("70", "4096").replace("77", "7680").replace("100", "4096")
BATCHED = """(float16[3,70,72] a, float16[3,72,88] b, float16[88] c) => (float16[3,70,88] y) {
  d = MatMul (a, b)  y = Add (d, c) }"""


def test_a_batch_is_an_axis_of_the_tensor(units: Path) -> None:
    schedule = "contract_0: contraction: S0 S1 | a m/64p n/64vp | k/64 | warps=4 copy=tma"
    program = Program.of(model_of(BATCHED), units, schedule=schedule, **HOPPER)
    assert re.search(r"mlc_bulk_copy\(.*(, \(int\).*){3}\);", "".join(program.kernels.strings.values()))
    a, b, c = (reals(*shape, dtype=np.float16) for shape in ((3, 70, 72), (3, 72, 88), (88,)))
    wanted = a.astype(float) @ b.astype(float) + c  # the product is rounded before the sum
    actual = program.run({"a": a, "b": b, "c": c})["y"]
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-3 * np.abs(wanted).max())


PARTS = """(float16[200,136] a, float16[20000] s) => (float16[200,72] y) {
  b = Constant<value = int64[1] {FIRST}>() e = Constant<value = int64[1] {LAST}>()
  d = Constant<value = int64[2] {136, 72}>()
  p = Slice(s, b, e) q = Reshape(p, d) y = MatMul(a, q) }"""


@pytest.mark.parametrize("first", [8, 4])
def test_a_part_of_a_tensor_is_copied_where_it_is_aligned(first: int, units: Path) -> None:
    model = model_of(PARTS.replace("FIRST", str(first)).replace("LAST", str(first + 136 * 72)))
    band = "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma"
    if first % 8:
        with pytest.raises(mlc.InputError, match="a part of another tensor, from an offset"):
            made(model, units, band, **HOPPER)
        return
    program, _ = made(model, units, band, **HOPPER)
    a, s = reals(200, 136, dtype=np.float16), reals(20000, dtype=np.float16)
    wanted = a.astype(float) @ s[first : first + 136 * 72].reshape(136, 72).astype(float)
    assert within_a_rounding(program.run({"a": a, "s": s})["y"], wanted, np.float16)


REFUSED = [
    (LARGE, "cuda:sm_90", "warps=4 copy=tma cluster=3x1", "a cluster has 2 or 4 blocks"),
    (LARGE, "cuda:sm_90", "warps=4 copy=tma cluster=2", "a cluster has 2 or 4 blocks"),
    (LARGE, "cuda:sm_90", "warps=4 copy=tma cluster=2x1 raster=3", "write a multiple of that"),
    (
        LARGE.replace("4096", "4160"),
        "cuda:sm_90",
        "warps=4 copy=tma cluster=2x1",
        "the rows of tiles are no multiple",
    ),
    (
        LARGE.replace("4096", "4224"),
        "cuda:sm_90",
        "warps=4 copy=tma cluster=1x4",
        "the columns of tiles are no",
    ),
    (LARGE, "cuda:sm_90", "warps=4 copy=tma pingpong", "write 'copy=tma persist pingpong'"),
    (LARGE, "cuda:sm_90", "warps=8 copy=tma persist pingpong", "a tile is that of one warpgroup"),
    (PLAIN, "cuda:sm_90", "warps=4 copy=tma", "a stride of 154 bytes, which is no multiple of 16"),
    (PLAIN, "cuda", "warps=4 copy=tma", "has no bulk copies of tensors"),
    (PLAIN, "cuda:sm_90", "warps=2x2 copy=tma", "not those of one product of warpgroups"),
    (LARGE, "cuda:sm_90", "warps=4 copy=tma depth=99", "depth=99 needs"),
]


@pytest.mark.parametrize("text, name, section, words", REFUSED)
def test_what_bulk_copies_cannot_do(text: str, name: str, section: str, words: str, units: Path) -> None:
    model = model_of(text.replace("TYPE", "float16") if "stride" in words else even(text))
    with pytest.raises(mlc.InputError, match=words):
        made(model, units, f"{{m}}/64p {{n}}/64vp | {{k}}/64 | {section}", target=target.get(name))


def test_a_block_has_room_for_the_warps_that_copy(units: Path) -> None:
    band = "{m}/256p {n}/256vp | {k}/64 | warps=32 copy=tma depth=2"
    with pytest.raises(mlc.InputError, match="at most 28 warps beside the 4 that copy"):
        made(model_of(LARGE.replace("TYPE", "float16")), units, band, **HOPPER)


UTMALDG, SYNCS = 0x5B4, 0x5A7  # SASS: bulk copies of tensors and mbarriers, as nvdisasm names them
MEMBAR = 0x992  # waits until what a thread has written is visible to other blocks
AT_REGISTER = 0x9A7  # an mbarrier whose address is in a register of the thread
MOST_BESIDE = 46  # instructions of a loop beside its products, as many as those of CUTLASS have
ELECT = 0x82F  # one thread of a warp
UTMASTG, STSM = 0x3B5, 0x844  # bulk stores, and stores of fragments to shared memory


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_cubins_copy_by_tma_and_spill_no_registers(units: Path, tmp_path: Path) -> None:
    printed = []
    model = model_of(LARGE.replace("TYPE", "float16"))
    for tile, columns, warps in (("{m}/128p", 128, 8), ("{m}/256p", 128, 8), ("{m}/64p", 128, 4), ("{m}/128p", 256, 8)):
        cluster = {128: " cluster=2x1", 256: " cluster=2x2"}[columns] if "128" in tile else ""
        more = f"raster=8 persist{cluster}"
        band = f"{tile} {{n}}/{columns}vp | {{k}}/64 | warps={warps} copy=tma depth=4 {more}"
        printed += [made(model, units, band, **HOPPER)[1]]
    band = "{m}/64p {n}/256vp | {k}/64 | warps=4 copy=tma depth=4 raster=8 persist pingpong"
    printed += [made(model, units, band, **HOPPER)[1]]
    sums = ROUNDED.replace("TYPE", "float").replace("KIND", "1").replace("200", "4096").replace("152", "4096")
    printed += [made(model_of(sums), units, "{m}/128p {n}/128vp | {k}/64 | warps=8 copy=tma", **HOPPER)[1]]
    source = tmp_path / "kernels.cu"
    source.write_text(unit(printed))
    command = ["nvcc", "-cubin", "-arch=sm_90a", f"-I{DEVICE}", "-Xptxas", "-v", "-diag-suppress", "177", source]
    done = subprocess.run([*command, "-o", tmp_path / "cubin"], capture_output=True, text=True, check=True)
    found = [tuple(map(int, numbers)) for _, *numbers in USED.findall(done.stderr)]
    assert len(found) == 6 and not any(stack or spills for stack, spills, _ in found)
    assert sorted(registers for *_, registers in found) == [128] + 5 * [168]  # before setmaxnreg shares them anew
    assert "serialized" not in done.stderr and "ignored" not in done.stderr
    code = instructions((tmp_path / "cubin").read_bytes())
    assert {HGMMA, UTMALDG, UTMASTG, STSM, SYNCS, MEMBAR} <= {*code}
    order = [SYNCS if each == AT_REGISTER else each for each in code if each in (HGMMA, SYNCS, AT_REGISTER, MEMBAR)]
    assert (HGMMA, SYNCS) in [*pairwise(order)]  # the buffer is free
    assert (HGMMA, MEMBAR) not in [*pairwise(order)]  # and no write waits for it, in each iteration
    beside = [len(loop) - loop.count(HGMMA) for loop in loops_of((tmp_path / "cubin").read_bytes(), HGMMA)]
    assert len(beside) == 6 and max(beside) <= MOST_BESIDE
    assert code.count(ELECT) == len(beside)  # no copy is a loop that elects each thread of a warp in turn
    if nvrtc.version() is not None:
        files = {"kernels.cu": unit(printed), **{path.name: path.read_text() for path in DEVICE.glob("*.h")}}
        made_by_library = nvrtc.compiled("kernels.cu", files, nvrtc.flags("sm_90a"), False)[0]
        assert {HGMMA, UTMALDG, SYNCS} <= opcodes(made_by_library)


def assert_products(program: Program) -> None:
    """The program multiplies new matrices of halves, and takes the positive results."""
    a, b = reals(200, 136, dtype=np.float16), reals(136, 152, dtype=np.float16)
    wanted = np.maximum(a.astype(float) @ b.astype(float), 0)
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, np.float16)


PERSISTENT = [
    "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma depth=2 persist",
    "{m}/64p {n}/64vp | {k}/32 | warps=4 copy=tma depth=3 raster=2 persist",
    "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=async raster=3 persist",
]


@pytest.mark.parametrize("band", PERSISTENT)
def test_persistent_blocks_go_on_with_the_ring(band: str, units: Path) -> None:
    """With 5 blocks for 12 tiles of 3 or 5 steps, tiles begin in any buffer of the ring and at any parity."""
    chip = replace(target.get("cuda:sm_90"), multiprocessors=5, registers=128 * 256)  # type: ignore[type-var]
    program, _ = made(model_of(even(PLAIN)), units, band, target=chip)
    (fn,) = program.functions.values()
    assert fn.launch.grid == (5 if "tma" in band else 10)
    assert_products(program)


FAULTS = [
    (r"mlc_mbarrier_arrive\(\w+ \+ \w+, \w+\);", "", "different steps"),
    (r"(mlc_mbarrier_wait\()(\w+ \+ )(\w+)(.*?)mlc_mbarrier_arrive\((\w+ \+ )\w+, \w+\);",
     r"\1\2\3\4mlc_mbarrier_arrive(\5\3);", "without a wait|what is being read|in flight|an arrival too many"),
    (r"mlc_wgmma_wait<1>\(\);", "", "a matrix that a product in flight reads|in flight"),
    (r"mlc_wgmma_wait<0>\(\);", "mlc_wgmma_wait<1>();", "an access of sums in flight"),
]  # fmt: skip


@pytest.mark.parametrize("pattern, fault, message", FAULTS)
def test_faults_of_products_in_flight_are_found(pattern: str, fault: str, message: str, units: Path) -> None:
    """A buffer that is not freed, or is while its product reads it; sums that are read before they have arrived."""
    band = "{m}/64p {n}/64vp | {k}/32 | warps=4 copy=tma depth=2"
    program, printed = made(model_of(even(PLAIN)), units, band, **HOPPER)
    head, consumers = printed.split("  else {\n", 1)
    wrong, count = re.subn(pattern, fault, consumers, flags=re.S)
    assert count == 1
    program.emulator = Emulator([f"{head}  else {{\n{wrong}"], units)
    with pytest.raises(AssertionError, match=message):
        program.run({"a": reals(200, 136, dtype=np.float16), "b": reals(136, 152, dtype=np.float16)})


STORES = [
    (r"mlc_proxy_fence\(\); (?=mlc_warpgroup_barrier)", "", "no fence between a write and the asynchronous proxy"),
    (r"mlc_warpgroup_barrier\(\w+\);", "", "a read of a write|a write of what is being stored"),
    (r"mlc_bulk_store_ready<\d>\(\w+\);", "", "a write of what is being stored"),
    (r"mlc_bulk_store_ready<1>", "mlc_bulk_store_ready<2>", "a write of what is being stored"),
    (r"mlc_bulk_store_wait<0>\(\);", "", "bulk stores in flight at the end"),
]
STORED = "{m}/64p {n}/256vp | {k}/32 | warps=4 copy=tma depth=2"  # 4 parts of 64 columns, 2 buffers


@pytest.mark.parametrize("pattern, fault, message", STORES)
@pytest.mark.parametrize("element, kind, parts", [("float16", 10, 4), ("float", 1, 8)])
def test_faults_of_bulk_stores_are_found(
    pattern: str, fault: str, message: str, element: str, kind: int, parts: int, units: Path
) -> None:
    text = ROUNDED.replace("TYPE", element).replace("KIND", str(kind)).replace("152", "248")
    program, printed = made(model_of(text), units, STORED, **HOPPER)
    assert printed.count("mlc_bulk_store(") == parts
    wrong, count = re.subn(pattern, fault, printed)
    assert count
    program.emulator = Emulator([wrong], units)
    with pytest.raises(AssertionError, match=message):
        program.run({"a": reals(200, 136, dtype=np.float16), "b": reals(136, 248, dtype=np.float16)})


ROUNDED = """(float16[200,136] a, float16[136,152] b) => (TYPE[200,152] y) {
  c = Cast <to = 1> (a) d = Cast <to = 1> (b) e = MatMul (c, d) y = Cast <to = KIND> (e) }"""


@pytest.mark.parametrize("element, kind", [("float16", 10), ("bfloat16", 16), ("float", 1), ("double", 11)])
def test_results_of_16_and_32_bits_are_stored_in_bulk(element: str, kind: int, units: Path) -> None:
    """Two sums are rounded, or written as they are, at a time; doubles are written by threads."""
    text = ROUNDED.replace("TYPE", element).replace("KIND", str(kind))
    program, printed = made(model_of(text), units, TILES[0], **HOPPER)
    assert ("mlc_bulk_store(" in printed) == (element != "double") and "mlc_bulk_copy(" in printed
    if element in ("float16", "bfloat16"):
        assert f"mlc_pair_{element.replace('loat', '')}(" in printed
    assert ("mlc_store_two(" in printed) == (element == "float")
    by_threads = made(model_of(text), units, f"{TILES[0]} store=threads", **HOPPER)[1]
    assert "mlc_bulk_copy(" in by_threads and "mlc_bulk_store" not in by_threads
    a, b = reals(200, 136, dtype=np.float16), reals(136, 152, dtype=np.float16)
    dtype = {"float16": np.float16, "bfloat16": bfloat16}.get(element)
    actual, wanted = program.run({"a": a, "b": b})["y"], a.astype(float) @ b.astype(float)
    assert dtype is None or within_a_rounding(actual, wanted, dtype)
    error = (4e-3 if dtype else 2e-6) * np.abs(wanted).max()
    np.testing.assert_allclose(actual.astype(float), wanted, rtol=0, atol=error)


JOINED = """(float16[200,136] a, float16[136,152] b, float16[FIRST] s) => (float16[1,REST] y) {
  d = Constant<value = int64[2] {1, 30400}>() f = Constant<value = int64[2] {1, FIRST}>()
  c = MatMul (a, b) e = Reshape (c, d) g = Reshape (s, f) h = Relu (g) y = Concat <axis = 1> (h, e) }"""


@pytest.mark.parametrize("first", [8, 4])
def test_a_part_of_a_result_is_stored_in_bulk_where_it_is_aligned(first: int, units: Path) -> None:
    text = JOINED.replace("FIRST", str(first)).replace("REST", str(30400 + first))
    program, printed = made(model_of(text), units, TILES[0], **HOPPER)
    assert ("mlc_bulk_store(" in printed) == (first == 8)
    a, b, s = (reals(*shape, dtype=np.float16) for shape in ((200, 136), (136, 152), (first,)))
    y = program.run({"a": a, "b": b, "s": s})["y"]
    assert within_a_rounding(y[0, first:].reshape(200, 152), a.astype(float) @ b.astype(float), np.float16)


SMALL = {"target": replace(target.get("cuda:sm_90"), multiprocessors=1)}  # type: ignore[type-var]


def test_rules_choose_bulk_copies_and_persistent_blocks(units: Path) -> None:
    program = Program.of(model_of(even(PLAIN)), units, **SMALL)
    (fn,) = program.functions.values()
    block = thread_block_of(schedule_of(fn))
    assert (block.copy, block.raster, block.persist) == ("tma", 8, True)
    assert_products(program)


def test_what_no_tensor_map_says_is_copied_by_all_threads(units: Path) -> None:
    """The rule sees strides; that a part of a tensor is not aligned, the pass does."""
    program = Program.of(model_of(PARTS.replace("FIRST", "4").replace("LAST", str(4 + 136 * 72))), units, **SMALL)
    text = "".join(program.kernels.strings.values())
    assert thread_block_of(schedule_of(next(iter(program.functions.values())))).copy == "tma"
    assert "mlc_bulk_copy(" not in text and "mlc_copy_async<" in text
    a, s = reals(200, 136, dtype=np.float16), reals(20000, dtype=np.float16)
    wanted = a.astype(float) @ s[4 : 4 + 136 * 72].reshape(136, 72).astype(float)
    assert within_a_rounding(program.run({"a": a, "s": s})["y"], wanted, np.float16)


CLUSTERS = [
    "{m}/64p {n}/128vp | {k}/64 | warps=4 copy=tma depth=2 cluster=2x1",
    "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma depth=3 cluster=2x1 raster=4 persist",
    "{m}/64p {n}/128vp | {k}/64 | warps=4 copy=tma depth=2 cluster=1x2 persist",
    "{m}/64p {n}/128vp | {k}/64 | warps=4 copy=tma depth=3 cluster=2x2 raster=4 persist",
    "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma depth=2 cluster=4x1",
]


@pytest.mark.parametrize("text", [PLAIN, TRANSPOSED])
@pytest.mark.parametrize("band", CLUSTERS)
def test_blocks_of_a_cluster_share_what_they_copy(band: str, text: str, units: Path) -> None:
    """Each copies a part of an operand to those that need it, in a ring that goes on from tile to tile."""
    chip = replace(target.get("cuda:sm_90"), multiprocessors=5, registers=128 * 256)  # type: ignore[type-var]
    program, printed = made(model_of(even(text)), units, band, target=chip)
    assert "mlc_bulk_multicast(" in printed and "mlc_mbarrier_arrive_cluster(" in printed
    assert ("mlc_bulk_copy(" in printed) == ("2x2" not in band)
    (fn,) = program.functions.values()
    assert fn.launch.grid == (4 if "persist" in band else 12 if "4x1" in band else 8)
    a, b = reals(200, 136, dtype=np.float16), reals(136, 152, dtype=np.float16)
    wanted = a.astype(float) @ b.astype(float)
    wanted = np.maximum(wanted, 0) if text == PLAIN else wanted
    b = b if text == PLAIN else np.ascontiguousarray(b.T)
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, np.float16)


SQUARE = "{m}/64p {n}/128vp | {k}/64 | warps=4 copy=tma depth=2 cluster=2x2"
SHARED_FAULTS = [
    (r"5 << (\w+);", r"3 << \1;", "different steps|in flight|what is being read"),  # two of a column, not of a row
    (r"3 << (\w+);", r"1 << \1;", "different steps"),
    (r"5 << (\w+);", r"20 << \1;", "of another rank"),  # bits of blocks that the cluster does not have
    (r"(mlc_mbarrier_init\(\w+, 2, )12\);", r"\g<1>16);", "different steps"),
    (r"(mlc_mbarrier_init\(\w+, 2, )12\);", r"\g<1>8);", "an arrival too many|what is being read|in flight"),
    (r"(= )(\w+) \| (\w+)(;(?:.*\n)*?.*mlc_mbarrier_init\(\w+, 2, )12\);", r"\1\2\g<4>8);", "what is being read"),
    (r"(= )(\w+) \| (\w+)(;(?:.*\n)*?.*mlc_mbarrier_init\(\w+, 2, )12\);", r"\1\3\g<4>8);", "what is being read"),
]  # fmt: skip


@pytest.mark.parametrize("pattern, fault, message", SHARED_FAULTS)
def test_faults_of_four_blocks_are_found(pattern: str, fault: str, message: str, units: Path) -> None:
    """Wrong masks and counts; a copy to a buffer that a block of the same row, or column, still reads."""
    program, printed = made(model_of(even(PLAIN)), units, SQUARE, **HOPPER)
    wrong, count = re.subn(pattern, fault, printed, count=1)
    assert count == 1
    program.emulator = Emulator([wrong], units)
    with pytest.raises(AssertionError, match=message):
        program.run({"a": reals(200, 136, dtype=np.float16), "b": reals(136, 152, dtype=np.float16)})


def test_clusters_are_candidates_that_a_search_measures() -> None:
    """Of 64 x 48 tiles all clusters; of an odd number of rows those of a row alone. Each is there without, too."""
    found = _candidates(4096, 6144)
    assert len(found) == len(set(found))
    assert {text.replace(f" cluster={each}", "") for text in found for each in ("2x1", "1x2", "2x2")} <= set(found)
    measured = {text.partition("cluster=")[2].split()[0] for text in found[: 1 + CANDIDATES] if "cluster=" in text}
    assert measured == {"2x1", "1x2", "2x2"}
    assert any("pingpong" in text for text in found[1 : 1 + CANDIDATES])
    odd = [text.partition("cluster=")[2] for text in _candidates(64, 6144) if "cluster=" in text]
    assert odd and all(text.startswith("1x2") for text in odd)


def _candidates(rows: int, columns: int) -> list[str]:
    text = f"(float16[{rows},512] a, float16[512,{columns}] b) => (float16[{rows},{columns}] y) {{ y = MatMul (a, b) }}"
    imported = OnnxSource.of(model_of(text)).imported({})
    run(imported.module, imported.weights, Options(**HOPPER), ("graph", "layout", "fuse", "kernel", "schedule"))
    (fn,) = [o for o in imported.module.ops if isinstance(o, FuncOp)]
    return [schedule.text for schedule in backend_of(target.get("cuda:sm_90")).candidates(fn)]


def test_words_are_written_to_shared_memory_without_conflicts(units: Path) -> None:
    """Those of half a warp, 16 threads with 8 bytes, are one access if they have all 32 banks of 4 bytes (CUDA C++
    Programming Guide, "Shared Memory"). The addresses are those of the printed expressions."""
    text = made(model_of(ROUNDED.replace("TYPE", "float").replace("KIND", "1")), units, TILES[0], **HOPPER)[1]
    variables = dict(re.findall(r"const int (t\d+) = ([^;]*thread[^;]*);", text))
    stores = re.findall(r"mlc_store_two\(\w+ \+ .*? \+ (\(?t\d+[ ^\d]*\)?), ", text)
    assert len(stores) == 16  # two parts of 32 columns, in each 4 blocks of 8 columns and 8 rows below others
    for store in stores:
        offsets = []
        for n in range(128):
            known = {name: eval(value, {"thread": n, "mlc_uniform": int}) for name, value in variables.items()}
            offsets.append(eval(store, known))
        for half in range(0, 128, 16):
            assert len({offset + word & 31 for offset in offsets[half : half + 16] for word in range(2)}) == 32
