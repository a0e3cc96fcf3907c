"""The host program's launches are those that the cubins expect: parameters, threads, registers, shared memory."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from cubin_facts import RESERVED, Facts, facts
from emulator import DEVICE
from test_cuda_attention import SIZES, text
from test_cuda_operators import CASES, model_of

from mlc import target as targets
from mlc.api import make_options
from mlc.dialects import kernel
from mlc.driver.compile import lower_source
from mlc.driver.sources import source_of
from mlc.passes.codegen.cuda.cuda_unit import unit
from mlc.passes.codegen.cuda.launch_geometry import geometry_of
from mlc.passes.codegen.emit_c import functions_of
from mlc.pipelines.backends import backend_of
from mlc.target import GpuTarget

MAP = 128  # bytes of a tensor map; pointers and dimensions have 8
PRODUCT = "(float16[4096,2048] a, float16[2048,4096] b) => (float16[4096,4096] y) { y = MatMul (a, b) }"
CHOSEN = ("symbolic rows", "normalization", "long rows", "depthwise", "order", "total")
MODELS = [*(CASES[name] for name in CHOSEN), text(next(iter(SIZES))), PRODUCT]


def lowered(source: onnx.ModelProto, target: str) -> tuple[dict[str, kernel.FuncOp], dict[str, str]]:
    """The kernels of a model by symbol, and their text."""
    options: Any = make_options(target)
    module = lower_source(source_of(source), options, until="plan").module
    printed = backend_of(options.target).print_kernels(module)
    return {printed.symbols[name]: fn for name, fn in functions_of(module).items()}, printed.strings


@pytest.fixture(scope="module", params=["cuda:sm_80", "cuda:sm_90"])
def compiled(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Facts], GpuTarget]:
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc")
    functions: dict[str, kernel.FuncOp] = {}
    strings: dict[str, str] = {}
    for each in MODELS:
        more, printed = lowered(model_of(each), request.param)
        functions, strings = functions | more, strings | printed
    target = targets.get(request.param)
    assert isinstance(target, GpuTarget)
    source = tmp_path_factory.mktemp("limits") / "kernels.cu"
    source.write_text(unit(list(strings.values())))
    made = source.with_suffix(".cubin")
    command = ["nvcc", "-cubin", f"-arch={target.architectures[0]}", f"-I{DEVICE}", "-w", source, "-o", made]
    subprocess.run(command, check=True)
    found = facts(Path(made).read_bytes())
    reserved = RESERVED if target.name == "cuda:sm_90" else 0
    return functions, {k: replace(f, static=max(f.static - reserved, 0)) for k, f in found.items()}, target


def sizes_of(fn: kernel.FuncOp) -> list[int]:
    """The bytes of the parameters of a launch, as mlc_cuda_launch gives them: buffers, dimensions, tensor maps."""
    return [8] * (len(fn.block.args) + len(list(fn.symbols))) + [MAP] * len(geometry_of(fn).maps)


def test_cubins_take_what_launches_give(compiled: tuple[Any, dict[str, Facts], GpuTarget]) -> None:
    functions, found, target = compiled
    assert set(functions) == set(found)
    assert any(MAP in sizes_of(fn) for fn in functions.values()) == (target.name == "cuda:sm_90")
    for symbol, fn in functions.items():
        assert found[symbol].problems(sizes_of(fn), geometry_of(fn), target) == []


def test_launches_that_do_not_fit_are_found(compiled: tuple[Any, dict[str, Facts], GpuTarget]) -> None:
    functions, found, target = compiled
    symbol, fn = next(iter(functions.items()))
    geometry, own = geometry_of(fn), found[symbol]
    assert own.problems([*sizes_of(fn), 8], geometry, target)
    assert own.problems(sizes_of(fn), replace(geometry, threads=2 * own.threads), target)
    assert own.problems(sizes_of(fn), replace(geometry, dynamic=target.shared_optin + 1), target)
    assert replace(own, registers=255).problems(sizes_of(fn), replace(geometry, threads=512), replace(target))
