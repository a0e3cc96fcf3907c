"""Images of halves as NHWC on the CUDA target, emulated on the CPU, against onnxruntime: convolutions of random shapes,
what is between them, and small networks."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from emulator import DEVICE, needed
from launcher import Program
from test_cubins import USED
from test_cuda_operators import feed_of, model_of
from xdsl.ir import Operation

from benchmarks.models import build, small
from benchmarks.models.halves import halved
from mlc import target
from mlc.dialects import kernel
from mlc.passes.codegen.cuda.cuda_unit import unit

pytestmark = needed
TARGETS = ("cuda:sm_80", "cuda:sm_90")
CHUNK = "mlc_copy_async<_Float16, 8>"


def fixed(text: str) -> onnx.ModelProto:
    """A model whose inputs are constants, but for ``x``."""
    model, random = model_of(text), np.random.default_rng()
    for value in [i for i in model.graph.input if i.name != "x"]:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        data = random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        model.graph.initializer.append(onnx.numpy_helper.from_array(data.astype(np.float16), value.name))
        model.graph.input.remove(value)
    return model


def run(model: onnx.ModelProto, units: Path, name: str = TARGETS[0], **options: Any) -> Program:
    """The program of a model, whose outputs agree with onnxruntime's within 1e-2 of the largest value."""
    made, feed = Program.of(model, units, target=target.get(name), **options), feed_of(model)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = made.run(feed)
    for output, wanted in zip(session.get_outputs(), session.run(None, feed), strict=True):
        actual, wanted = (np.asarray(v, np.float64) for v in (found[output.name], wanted))
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-2 * np.abs(wanted).max(), err_msg=output.name)
    return made


def every(made: Program, kind: type) -> Iterator[Operation]:
    return (o for fn in made.functions.values() for o in fn.walk() if isinstance(o, kind))


def code(made: Program) -> str:
    return "".join(made.kernels.strings.values())


def drawn() -> str:
    """A convolution of random extents, strides, dilations and borders; channels fill no block, or do."""
    random = np.random.default_rng()
    n, c, f = (int(random.choice(some)) for some in ((1, 2, 3), (16, 21, 24, 40), (20, 24, 33, 64)))
    h, w = (int(x) for x in random.integers(12, 20, 2))
    ky, kx = (int(x) for x in random.integers(2, 5, 2))
    strides, dilations = (random.integers(1, 4, 2).tolist() for _ in range(2))
    pads = random.integers(0, 3, 4).tolist()
    settings = f"strides = {strides}, dilations = {dilations}, pads = {pads}"
    types = f"float16[{n},{c},{h},{w}] x, float16[{f},{c},{ky},{kx}] w, float16[{f}] b"
    return f"({types}) => (float16[n,f,p,q] y) {{ c = Conv <{settings}> (x, w, b)  y = Relu (c) }}"


@pytest.mark.parametrize("name", [*TARGETS, TARGETS[0]])
def test_convolution(name: str, units: Path) -> None:
    made = run(fixed(drawn()), units, name)
    (gather,) = {o.width.value.data for o in every(made, kernel.AsyncGatherOp)}  # type: ignore[attr-defined]
    assert gather == 8 and any(every(made, kernel.MmaOp)) and CHUNK in code(made)


@pytest.mark.parametrize("stride", [1, 2])
def test_pointwise_convolution(stride: int, units: Path) -> None:
    """Of stride 1 it is a plain product of pixels and filters: nothing is gathered."""
    text = "(float16[2,48,11,13] x, float16[40,48,1,1] w) => (float16[2,40,p,q] y) "
    made = run(fixed(text + f"{{ y = Conv <strides = [{stride},{stride}]> (x, w) }}"), units)
    assert any(every(made, kernel.AsyncGatherOp)) == (stride == 2) and CHUNK in code(made)


def test_products_of_warpgroups_with_gathered_pixels(units: Path) -> None:
    text = "(float16[2,32,9,16] x, float16[64,32,3,3] w) => (float16[2,64,p,q] y) { y = Conv (x, w) }"
    model = fixed(text)
    name = next(n for n in Program.of(model, units).functions if n.startswith("conv"))
    band = "n_y0_y1/64p fi/64vp | k0_k1_ci/64 | warps=4 mma=m64n64k16"
    made = run(model, units, TARGETS[1], schedule=f"{name}: contraction: S0 S1 | {band}\n")
    assert any(o.warpgroup for o in every(made, kernel.MmaOp)) and any(every(made, kernel.AsyncGatherOp))  # type: ignore[attr-defined]


@pytest.mark.parametrize("left", [2, 3])
def test_first_layer(left: int, units: Path) -> None:
    """Three channels and one of zeros: 8 bytes of a pixel are copied at a time. With 3 a tile is a row of 16 pixels."""
    text = "(float16[1,3,29,31] x, float16[32,3,7,7] w) => (float16[1,32,p,q] y) "
    made = run(fixed(text + f"{{ y = Conv <strides = [2,2], pads = [3,{left},3,3]> (x, w) }}"), units)
    assert [o.width.value.data for o in every(made, kernel.AsyncGatherOp)][0] == 4  # type: ignore[attr-defined]


BETWEEN = {
    "depthwise": "d = Conv <group = 24, pads = [1,1,1,1], strides = [2,2]> (a, w)  y = Relu (d)",
    "pools": "y = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (a)  z = GlobalAveragePool (a)",
    "channels of another": "b = Conv (x, v)  c = Sigmoid (b)  y = Concat <axis = 1> (a, c)",
    "a part of the channels": "y, z = Split <axis = 1> (a, s)",
    "squeeze and excitation": "m = GlobalAveragePool (a)  e = Conv (m, u)  f = Sigmoid (e)  y = Mul (a, f)",
    "a residual": "b = Add (a, x)  c = Relu (b)  y = Conv (c, u)",
}


@pytest.mark.parametrize("kind", BETWEEN)
def test_between_convolutions(kind: str, units: Path) -> None:
    """Operators on NHWC, and the plain layout at the end."""
    types = "float16[1,24,10,13] x, float16[24,24,1,1] u, float16[16,24,1,1] v, float16[24,1,3,3] w"
    outputs = "float16[n,c,h,p] y, float16[n,d,i,q] z" if "z" in BETWEEN[kind] else "float16[n,c,h,p] y"
    split = "s = Constant <value_ints = [8, 16]> ()  " if "Split" in BETWEEN[kind] else ""
    run(fixed(f"({types}) => ({outputs}) {{ {split}t = Conv (x, u)  a = Relu (t)  {BETWEEN[kind]} }}"), units)


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "unet"])
def test_a_small_network(name: str, units: Path) -> None:
    run(halved(build(name, **small.OPTIONS[name])), units)


def test_weights_of_run_time_for_few_pixels_keep_nchw(units: Path) -> None:
    """They would be moved in each run."""
    model = model_of("(float16[1,16,9,12] x, float16[32,16,3,3] w) => (float16[1,32,7,10] y) { y = Conv (x, w) }")
    made = Program.of(model, units)
    assert len(made.functions) == 1 and not any(every(made, kernel.AsyncGatherOp))


def test_weights_of_run_time(units: Path) -> None:
    model = model_of("(float16[2,16,9,12] x, float16[40,16,3,3] w) => (float16[2,40,7,10] y) { y = Conv (x, w) }")
    assert {o.width.value.data for o in every(run(model, units), kernel.AsyncGatherOp)} == {8}  # type: ignore[attr-defined]


@pytest.mark.skipif(not (shutil.which("nvcc") and shutil.which("cuobjdump")), reason="needs nvcc and cuobjdump")
@pytest.mark.parametrize("name, product", [*zip(TARGETS, ("HMMA", "HGMMA"), strict=True)])
def test_machine_code(name: str, product: str, units: Path, tmp_path: Path) -> None:
    """Pixels are copied by 16 bytes and multiplied on tensor cores, without spills."""
    text = "(float16[2,64,30,30] x, float16[128,64,3,3] w) => (float16[2,128,28,28] y) "
    text += "{ c = Conv (x, w)  y = Relu (c) }"
    gpu = target.get(name)
    (tmp_path / "k.cu").write_text(unit(list(Program.of(fixed(text), units, target=gpu).kernels.strings.values())))
    command = ["nvcc", "-cubin", f"-arch={gpu.architectures[0]}", f"-I{DEVICE}", "-Xptxas", "-v", tmp_path / "k.cu"]  # type: ignore[attr-defined]
    done = subprocess.run([*command, "-o", tmp_path / "k.cubin"], capture_output=True, text=True, check=True)
    assert {(int(stack), int(spills)) for _, stack, spills, _ in USED.findall(done.stderr)} == {(0, 0)}
    code = subprocess.run(["cuobjdump", "-sass", tmp_path / "k.cubin"], capture_output=True, text=True, check=True)
    assert product in code.stdout and "LDGSTS.E.BYPASS.128" in code.stdout
