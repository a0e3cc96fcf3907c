"""The runtime's declarations of the CUDA driver API are those of the toolkit's cuda.h, where there is one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from emulator import DEVICE, needed

HERE = Path(__file__).parent
TOOLKITS = [Path(folder) / "include" for folder in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda") if folder]
HEADERS = next((folder for folder in TOOLKITS if (folder / "cuda.h").exists()), None)

pytestmark = [needed, pytest.mark.skipif(HEADERS is None, reason="needs cuda.h of a CUDA toolkit")]


def compiled(text: str, folder: Path) -> str:
    """What g++ says of a source, which is not linked; empty where it compiles."""
    source = folder / "declarations.cpp"
    source.write_text(text)
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{HEADERS}", f"-I{DEVICE}", source]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_functions_structures_and_values_are_those_of_the_toolkit(tmp_path: Path) -> None:
    assert compiled((HERE / "driver_declarations.cpp").read_text(), tmp_path) == ""


@pytest.mark.parametrize("right, wrong", [
    ("MLC_CUDA_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT16", "MLC_CUDA_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32"),
    ("height, Height", "height, Depth"),
    ("MLC_CUDA_LATER_FUNCTIONS(SAME)", "SAME(launch, cuGraphAddKernelNode_v2, int, void *)"),
])  # fmt: skip
def test_a_wrong_declaration_is_found(right: str, wrong: str, tmp_path: Path) -> None:
    text = (HERE / "driver_declarations.cpp").read_text()
    assert right in text
    assert "static assertion failed" in compiled(text.replace(right, wrong), tmp_path)
