"""The machine code of attention with masked blocks of keys: registers, its instructions, and conflicts of banks."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulator import DEVICE
from test_causal_streams import ATTENTION, masked_model
from test_cubins import HMMA, LDGSTS, USED, instructions

from mlc import target
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.passes.codegen.cuda.cuda_unit import unit
from mlc.pipelines.backends import backend_of

STAGES = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan")
FMNMX, FSETP = (
    (0x209, 0x809),
    (0x20B, 0x80B),
)  # SASS: the larger of two floats, and comparisons, as cuobjdump names them
BANKS = 32  # of shared memory, of 4 bytes each
POINTER = re.compile(r"\* ?__restrict__ (b\d+)")
COPY = re.compile(r"mlc_copy_async<float, 1>\(v\d+ \+ (.*?), b\d")


def source(element: str, window: int, keys: int = 512, name: str = "cuda", outside: float = -np.inf) -> str:
    """The text of the kernel of 12 heads of 64 elements."""
    model = masked_model(ATTENTION.replace("[1,2,", "[1,12,").replace(",32]", ",64]"), element, keys, window, outside)
    imported, options = OnnxSource.of(model).imported({}), Options(target=target.get(name))
    run(imported.module, imported.weights, options, STAGES)
    (text,) = backend_of(options.target).print_kernels(imported.module).strings.values()
    return text


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("name", ["cuda:sm_80", "cuda:sm_90"])
@pytest.mark.parametrize("element", ["float", "float16"])
def test_masked_streams_spill_nothing(name: str, element: str, tmp_path: Path) -> None:
    """Blocks of 64 threads have all registers that shared memory leaves them; a maximum is one instruction."""
    found = compiled([source(element, window, name=name) for window in (512, 100)], name, tmp_path)
    maxima, comparisons = (sum(found.count(each) for each in codes) for codes in (FMNMX, FSETP))
    assert LDGSTS in found and (HMMA in found) == (element == "float16")
    assert maxima > 2 * 20 and comparisons < maxima


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("name", ["cuda:sm_80", "cuda:sm_90"])
@pytest.mark.parametrize("element", ["float", "float16"])
def test_computed_masks_spill_nothing(name: str, element: str, tmp_path: Path) -> None:
    """``compute-bands`` leaves comparisons of integers of a mask of -10000, and no argument for it."""
    text = source(element, 100, name=name, outside=-1e4)
    assert POINTER.findall(text) == ["b0", "b1", "b2", "b3"]  # queries, keys, values, the result
    found = compiled([text], name, tmp_path)
    assert LDGSTS in found and (HMMA in found) == (element == "float16")


def compiled(printed: list[str], name: str, folder: Path) -> list[int]:
    """The instructions of kernels for a GPU, which have all their values in registers."""
    (folder / "k.cu").write_text(unit(printed))
    arch = target.get(name).architectures[0]  # type: ignore[attr-defined]
    command = ["nvcc", "-cubin", f"-arch={arch}", f"-I{DEVICE}", "-Xptxas", "-v", folder / "k.cu"]
    done = subprocess.run([*command, "-o", folder / "k.cubin"], capture_output=True, text=True, check=True)
    assert {(int(stack), int(spills)) for _, stack, spills, _ in USED.findall(done.stderr)} == {(0, 0)}
    return instructions((folder / "k.cubin").read_bytes())


def test_copies_that_transpose_keys_share_a_bank_by_two() -> None:
    """Rows of the copy in shared memory begin at 16 bytes, so no distance of rows separates all 32 threads."""
    text = source("float", 512)
    defined = dict(re.findall(r"const int (t\d+) = (.*?);", text))
    targets = {found[1] for found in COPY.finditer(text)}
    assert targets
    for each in targets:
        assert max(_conflicts(each.replace("(int64_t)", ""), defined)) == 2


def _conflicts(offset: str, defined: dict[str, str]) -> Iterator[int]:
    """How many elements of a bank the threads of each warp access at a time."""
    for warp in range(8):
        banks = dict[int, set[int]]()
        for thread in range(32 * warp, 32 * (warp + 1)):
            at = eval(offset, {name: eval(text, {"thread": thread}) for name, text in defined.items()})
            banks.setdefault(at % BANKS, set()).add(at)
        yield max(map(len, banks.values()))
