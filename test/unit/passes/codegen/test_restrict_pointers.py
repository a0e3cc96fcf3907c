"""``__restrict__`` in CUDA kernels: only buffers through which the threads of a block exchange nothing have it.

With it nvcc keeps an element in a register across barriers: on a GPU the running sums of an attention's derivative were
those of one thread in four, which no emulation sees.
"""

from __future__ import annotations

import re

import onnx.parser
import pytest

from mlc import target as targets
from mlc.driver.lower import run
from mlc.frontends.onnx import import_model
from mlc.options import Options
from mlc.passes.codegen.cuda.cuda_unit import print_kernels

STAGES = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan")
PARAMETER = re.compile(r"(const )?\w+ \*(__restrict__ )?(b\d+)")


def parameters(text: str) -> list[list[tuple[bool, bool]]]:
    """For each kernel of a model whether a buffer is only read, and whether it is ``__restrict__``."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {text}')
    imported, gpu = import_model(model), targets.get("cuda:sm_90")
    run(imported.module, imported.weights, Options(target=gpu), STAGES)
    kernels = print_kernels(imported.module).strings.values()
    heads = [kernel[kernel.index("__global__") : kernel.index("{")] for kernel in kernels]
    return [[(bool(const), bool(restrict)) for const, restrict, _ in PARAMETER.findall(head)] for head in heads]


def test_what_a_kernel_only_reads_or_only_writes() -> None:
    assert parameters("(float[n,300] x) => (float[n,300] y) { y = Exp (x) }") == [[(True, True), (False, True)]]


@pytest.mark.parametrize(
    "text",
    [
        "(float[n,m] x) => (float[n,m] y) { y = Softmax (x) }",  # writes exponentials, and reads them to divide
        "(float[5,700] x, int64[1] k) => (float[5,q] y, int64[5,q] i) { y, i = TopK (x, k) }",  # sorts in its result
        "(float[4,900] x) => (float[4,900] y) { a = Constant <value_int = 1> () y = CumSum (x, a) }",
    ],
)
def test_what_threads_exchange(text: str) -> None:
    written = [restrict for kernel in parameters(text) for const, restrict in kernel if not const]
    assert not all(written)
