"""Counts of a kernel's accesses to the memory of a GPU, on kernels whose accesses are known."""

from __future__ import annotations

import onnx.parser

from benchmarks.gpu.accesses import Access, accesses
from mlc import target
from mlc.dialects import kernel
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options

STAGES = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops")


def found(text: str) -> list[Access]:
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {text}')
    imported = OnnxSource.of(model).imported({})
    run(imported.module, imported.weights, Options(target=target.get("cuda")), STAGES)
    (fn,) = [o for o in imported.module.ops if isinstance(o, kernel.FuncOp)]
    return list(accesses(fn))


def moved(accesses_: list[Access], writes: bool) -> int:
    return sum(a.trips * a.bytes for a in accesses_ if a.writes == writes)


def test_neighbouring_threads_share_sectors() -> None:
    counts = found("(float[64,512] x) => (float[64,512] y) { y = Relu (x) }")
    assert all((a.sectors, a.least) == (4, 4) for a in counts)
    assert moved(counts, writes=False) == moved(counts, writes=True) == 64 * 512 * 4


def test_a_transposition_reads_a_sector_an_element() -> None:
    read, written = found("(float[64,512] x) => (float[512,64] y) { y = Transpose <perm = [1,0]> (x) }")
    assert sorted([read.sectors, written.sectors]) == [4, 32] and read.least == written.least == 4  # type: ignore[type-var]


def test_a_product_reads_its_operands_once_a_tile() -> None:
    """512 x 512 in tiles of 64 x 64: each of 8 columns of tiles reads all of A, each of 8 rows all of B."""
    counts = found("(float[512,64] a, float[64,512] b) => (float[512,512] y) { y = MatMul (a, b) }")
    assert moved(counts, writes=False) == (8 + 8) * 512 * 64 * 4


def test_computed_offsets_are_counted_and_data_is_not() -> None:
    """Rows of 6 of 8 pixels: 32 neighbouring columns of a convolution are in 6 rows, at most 8 sectors."""
    image = found("(float[1,16,32,8] x, float[32,16,1,3] w) => (float[1,32,32,6] y) { y = Conv (x, w) }")
    assert any(a.sectors is not None and 4 < a.sectors <= 8 for a in image)
    rows = found("(float[100,64] x, int64[9] i) => (float[9,64] y) { y = Gather (x, i) }")
    assert any(a.sectors is None for a in rows)


def test_symbolic_dimensions_are_256() -> None:
    assert moved(found("(float[n,64] x) => (float[n,64] y) { y = Relu (x) }"), writes=True) == 256 * 64 * 4


def test_bulk_copies_count_whole_boxes() -> None:
    """Two blocks of 64 x 64 results read boxes of 64 x 64 of both operands, whatever is inside the tensors."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g '
        "(float16[128,72] a, float16[72,64] b) => (float16[128,64] y) { y = MatMul (a, b) }"
    )
    imported = OnnxSource.of(model).imported({})
    schedule = "contract_0: contraction: S0 S1 | m/64p n/64vp | k/64 | warps=4 copy=tma"
    run(imported.module, imported.weights, Options(target=target.get("cuda:sm_90"), schedule=schedule), STAGES)
    (fn,) = [o for o in imported.module.ops if isinstance(o, kernel.FuncOp)]
    assert moved(list(accesses(fn)), writes=False) == 2 * 2 * (64 + 64) * 64 * 2
