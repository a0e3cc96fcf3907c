"""Products of warpgroups (wgmma), emulated by the documented layouts, against float64; their cubins for sm_90a."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator import DEVICE, needed
from launcher import Program
from ml_dtypes import bfloat16
from test_cubins import USED, opcodes
from test_cuda_operators import model_of
from test_tensor_cores import LEFT, PLAIN, TRANSPOSED, made, reals, within_a_rounding

import mlc
from mlc import target
from mlc.passes.codegen.cuda.cuda_unit import unit

pytestmark = needed

HOPPER = {"target": target.get("cuda:sm_90")}
TILES = [
    "{m}/64p {n}/64vp | {k}/32 | warps=4",
    "{m}/128p {n}/64vp | {k}/16 | warps=8x1 depth=3",
    "{m}/64p {n}/128vp | {k}/64 | warps=4x2 mma=m64n64k16",
    "{m}/128p {n}/128vp | {k}/32 | warps=4 mma=m64n128k16",
    "{m}/64p {n}/256vp | {k}/64 | warps=4 mma=m64n256k16",
]
REFUSED = [
    ("cuda", "float16", "{m}/64p {n}/64vp | {k}/32 | warps=4 mma=m64n64k16", "has no products of warpgroups"),
    ("cuda:sm_90", "float", "{m}/64p {n}/64vp | {k}/32 | warps=4 mma=m64n64k8", "multiply no sums of two TF32"),
    ("cuda:sm_90", "float16", "{m}/64p {n}/128vp | {k}/32 | warps=4 mma=m64n64k16", "64 x 128 has m64n128k16"),
    ("cuda:sm_90", "float16", "{m}/64p {n}/64vp | {k}/32 | warps=2x2 mma=m64n64k16", "not 64 rows and 64, 128 or 256"),
    ("cuda:sm_90", "float16", "{m}/256p {n}/128vp | {k}/32 | warps=4 mma=m64n128k16", "have 256 sums, more than 128"),
    ("cuda:sm_90", "int8", "{m}/64p {n}/64vp | {k}/32 | warps=4 mma=m64n64k16", "64 x 64 has m64n64k32"),
    ("cuda:sm_90", "int8", "{m}/64p {n}/64vp | {k}/256 | warps=4 mma=m64n64k32", "have 32, 64 or 128 steps, not 256"),
    ("cuda:sm_90", "float16", "{m}/64p {n}/64vp | {k}/128 | warps=4 mma=m64n64k16", "have 16, 32 or 64 steps, not 128"),
]
HGMMA, IGMMA = 0x9F0, 0x9F1  # SASS, as cuobjdump names them


@pytest.mark.parametrize("band", TILES)
@pytest.mark.parametrize("element, dtype", [("float16", np.float16), ("bfloat16", bfloat16)])
def test_halves(element: str, dtype: Any, band: str, units: Path) -> None:
    program, text = made(model_of(PLAIN.replace("TYPE", element)), units, band, **HOPPER)
    assert "mlc_wgmma<" in text and "mlc_ldmatrix" not in text
    a, b = reals(70, 77, dtype=dtype), reals(77, 100, dtype=dtype)
    wanted = np.maximum(a.astype(float) @ b.astype(float), 0)
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, dtype)


@pytest.mark.parametrize("text, kinds", [(TRANSPOSED, "false, false"), (LEFT, "true, true")])
@pytest.mark.parametrize("steps", [16, 32, 64])
def test_neighbours_along_the_sum_and_across(text: str, kinds: str, steps: int, units: Path) -> None:
    band = f"{{m}}/64p {{n}}/128vp | {{k}}/{steps} | warps=4x2"
    program, printed = made(model_of(text.replace("TYPE", "float16")), units, band, **HOPPER)
    assert f"mlc_wgmma<64, MLC_F16, MLC_F16, {steps}, {kinds}>" in printed
    shapes = ((77, 70), (77, 100)) if text == LEFT else ((70, 77), (100, 77))
    a, b = (reals(*shape, dtype=np.float16) for shape in shapes)
    wanted = a.astype(float).T @ b.astype(float) if text == LEFT else a.astype(float) @ b.astype(float).T
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, np.float16)


BYTES = """(LEFT[70,77] a, RIGHT[100,77] b) => (int32[70,100] y) {
  c = Cast <to = 6> (a)  d = Cast <to = 6> (b)  y = Gemm <transB = 1> (c, d) }"""
LEAST = {"uint8": (0, 256), "int8": (-128, 128)}
KINDS = [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8"), ("int8", "uint8")]


def of_bytes(text: str, left: str, right: str) -> str:
    return text.replace("LEFT", left).replace("RIGHT", right)


def integers(kind: str, *shape: int) -> np.ndarray:
    return np.random.default_rng().integers(*LEAST[kind], shape).astype(kind)


@pytest.mark.parametrize("left, right", KINDS)
@pytest.mark.parametrize(
    "band", ["{m}/64p {n}/64vp | {k}/32 | warps=4", "{m}/64p {n}/128vp | {k}/64 | warps=4 mma=m64n128k32"]
)
def test_bytes_are_exact(band: str, left: str, right: str, units: Path) -> None:
    program, text = made(model_of(of_bytes(BYTES, left, right)), units, band, numerics="strict", **HOPPER)
    assert f"MLC_{left[0].replace('i', 's').upper()}8, MLC_{right[0].replace('i', 's').upper()}8, " in text
    a, b = integers(left, 70, 77), integers(right, 100, 77)
    wanted = a.astype(np.int64) @ b.astype(np.int64).T
    np.testing.assert_array_equal(program.run({"a": a, "b": b})["y"], wanted)


ROWS = """(uint8[1024,2048] a, int8[2048,2048] b) => (int32[1024,2048] y) {
  y = MatMulInteger (a, b) }"""


def test_rules_choose_products_of_bytes_with_neighbours_along_the_sum(units: Path) -> None:
    """Where the right operand is stored by rows of the sum, warps multiply fragments as before."""
    along = of_bytes(BYTES, "uint8", "int8").replace("70", "1024").replace("77", "2048").replace("100", "2048")
    for text, call in ((along, "mlc_wgmma<128, MLC_U8, MLC_S8, 128, false, false>("), (ROWS, "mlc_mma_u8_s8(")):
        program = Program.of(model_of(text), units, **HOPPER)
        printed = "".join(program.kernels.strings.values())
        assert call in printed and ("mlc_bulk_copy(" in printed) == (text == along)


def cut(x: np.ndarray) -> np.ndarray:
    """What TF32 keeps of floats where a product reads them as they are."""
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize(
    "band", ["{m}/64p {n}/64vp | {k}/8 | warps=4", "{m}/64p {n}/128vp | {k}/32 | warps=4x2 mma=m64n64k8"]
)
def test_floats_are_cut_to_tf32_in_relaxed_numerics(band: str, units: Path) -> None:
    program, text = made(model_of(TRANSPOSED.replace("TYPE", "float")), units, band, numerics="relaxed", **HOPPER)
    assert "mlc_wgmma<64, MLC_TF32, MLC_TF32, " in text and "mlc_mma_" not in text
    a, b = reals(70, 77), reals(100, 77)
    actual = program.run({"a": a, "b": b})["y"]
    wanted = cut(a).astype(float) @ cut(b).astype(float).T
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())
    exact = a.astype(float) @ b.astype(float).T
    assert 1e-5 < np.abs(actual - exact).max() / np.abs(exact).max() < 1e-3


@pytest.mark.parametrize("name, element, band, words", REFUSED)
def test_what_warpgroups_cannot_multiply(name: str, element: str, band: str, words: str, units: Path) -> None:
    text = of_bytes(BYTES, element, element) if element == "int8" else PLAIN.replace("TYPE", element)
    model = model_of(text.replace("77", "377"))
    with pytest.raises(mlc.InputError, match=words):
        made(model, units, band, target=target.get(name))


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_cubins_have_products_of_warpgroups_and_no_spills(units: Path, tmp_path: Path) -> None:
    """The sums stay in registers, and the compiler serializes no products."""
    found, log, codes = compiled(halves(units), tmp_path)
    assert len(found) == 6 and not any(stack or spills for stack, spills, _ in found)
    assert sorted(registers <= 160 for *_, registers in found) == [*[False] * 4, True, True], found
    assert "serialized" not in log and HGMMA in codes


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_cubins_have_products_of_bytes_and_of_tf32(units: Path, tmp_path: Path) -> None:
    printed = []
    for text in (*(of_bytes(BYTES, *kinds) for kinds in KINDS), TRANSPOSED.replace("TYPE", "float")):
        steps, tiles = (32 if "float" in text else 128), [("{m}/128p", " copy=tma")]
        tiles += [("{m}/256p", ""), ("{m}/256p", " copy=tma")] if text.count("uint8") != 1 else []
        model = model_of(text.replace("70", "4096").replace("77", "2048").replace("100", "4096"))
        for tile, copy in tiles:
            band = f"{tile} {{n}}/128vp | {{k}}/{steps} | warps=8 depth=4{copy}"
            printed += [made(model, units, band, numerics="relaxed", **HOPPER)[1]]
    found, log, codes = compiled(printed, tmp_path)
    assert len(found) == 11 and not any(stack or spills for stack, spills, _ in found)
    assert "serialized" not in log and {HGMMA, IGMMA} <= codes


def halves(units: Path) -> list[str]:
    printed = []
    for kind in (PLAIN, TRANSPOSED):
        text = kind.replace("TYPE", "float16").replace("70", "4096").replace("77", "2048").replace("100", "4096")
        for tile in ("{m}/128p {n}/128vp", "{m}/256p {n}/128vp", "{m}/128p {n}/256vp"):
            printed += [made(model_of(text), units, f"{tile} | {{k}}/64 | warps=8 depth=4", **HOPPER)[1]]
    return printed


def compiled(printed: list[str], folder: Path, arch: str = "sm_90a") -> tuple[list[tuple[int, ...]], str, set[int]]:
    """What ptxas says of kernels: stack, spills and registers of each, its messages, and the opcodes."""
    source = folder / "kernels.cu"
    source.write_text(unit(printed))
    command = ["nvcc", "-cubin", f"-arch={arch}", f"-I{DEVICE}", "-Xptxas", "-v", "-diag-suppress", "177", source]
    done = subprocess.run([*command, "-o", folder / "cubin"], capture_output=True, text=True, check=True)
    found = [tuple(map(int, numbers)) for _, *numbers in USED.findall(done.stderr)]
    return found, done.stderr, opcodes((folder / "cubin").read_bytes())


def test_weights_of_bytes_across_the_sum_reach_warpgroups(units: Path) -> None:
    weight = integers("int8", 144, 152)
    text = """(uint8[200,144] a) => (int32[200,152] y) <int8[144,152] b = {VALUES}> { y = MatMulInteger (a, b) }"""
    program = Program.of(model_of(text.replace("VALUES", ", ".join(map(str, weight.ravel())))), units, **HOPPER)
    assert "MLC_U8, MLC_S8, " in "".join(program.kernels.strings.values())
    a = integers("uint8", 200, 144)
    np.testing.assert_array_equal(program.run({"a": a})["y"], a.astype(np.int64) @ weight.astype(np.int64))
