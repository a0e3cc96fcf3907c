"""Products of warpgroups (wgmma), emulated by the documented layouts, against float64; their cubins for sm_90a."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator import DEVICE, needed
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
]
REFUSED = [
    ("cuda", "float16", "{m}/64p {n}/64vp | {k}/32 | warps=4 mma=m64n64k16", "has no products of warpgroups"),
    ("cuda:sm_90", "float", "{m}/64p {n}/64vp | {k}/32 | warps=4 mma=m64n64k16", "factors of f32 have m16n8k8"),
    ("cuda:sm_90", "float16", "{m}/64p {n}/128vp | {k}/32 | warps=4 mma=m64n64k16", "64 x 128 has m64n128k16"),
    ("cuda:sm_90", "float16", "{m}/64p {n}/64vp | {k}/32 | warps=2x2 mma=m64n64k16", "is not 64 rows and 64 or 128"),
    ("cuda:sm_90", "float16", "{m}/256p {n}/128vp | {k}/32 | warps=4 mma=m64n128k16", "have 256 sums, more than 128"),
    ("cuda:sm_90", "float16", "{m}/64p {n}/64vp | {k}/128 | warps=4 mma=m64n64k16", "have 16, 32 or 64 steps, not 128"),
]
HGMMA = 0x9F0  # SASS, as cuobjdump names it


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
    assert f"mlc_wgmma<64, false, {steps}, {kinds}>" in printed
    shapes = ((77, 70), (77, 100)) if text == LEFT else ((70, 77), (100, 77))
    a, b = (reals(*shape, dtype=np.float16) for shape in shapes)
    wanted = a.astype(float).T @ b.astype(float) if text == LEFT else a.astype(float) @ b.astype(float).T
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, np.float16)


@pytest.mark.parametrize("name, element, band, words", REFUSED)
def test_what_warpgroups_cannot_multiply(name: str, element: str, band: str, words: str, units: Path) -> None:
    model = model_of(PLAIN.replace("TYPE", element).replace("77", "177"))
    with pytest.raises(mlc.InputError, match=words):
        made(model, units, band, target=target.get(name))


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_cubins_have_products_of_warpgroups_and_no_spills(units: Path, tmp_path: Path) -> None:
    """The sums stay in registers, and the compiler serializes no products."""
    printed = []
    for kind in (PLAIN, TRANSPOSED):
        text = kind.replace("TYPE", "float16").replace("70", "4096").replace("77", "2048").replace("100", "4096")
        for tile in ("{m}/128p {n}/128vp", "{m}/256p {n}/128vp"):
            printed += [made(model_of(text), units, f"{tile} | {{k}}/64 | warps=8 depth=4", **HOPPER)[1]]
    source = tmp_path / "kernels.cu"
    source.write_text(unit(printed))
    command = ["nvcc", "-cubin", "-arch=sm_90a", f"-I{DEVICE}", "-Xptxas", "-v", "-diag-suppress", "177", source]
    done = subprocess.run([*command, "-o", tmp_path / "cubin"], capture_output=True, text=True, check=True)
    found = [tuple(map(int, numbers)) for _, *numbers in USED.findall(done.stderr)]
    assert len(found) == 4 and not any(stack or spills for stack, spills, _ in found)
    assert sorted(registers <= 128 for *_, registers in found) == [False, False, True, True]
    assert "serialized" not in done.stderr and HGMMA in opcodes((tmp_path / "cubin").read_bytes())
