"""The CUDA compiler accepts the kernels of all operators, for both architectures, and spills no registers."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from emulator import DEVICE
from test_cuda_attention import SIZES, text
from test_cuda_open_rows import ROWS, SHARED
from test_cuda_operators import CASES, model_of

from mlc import target
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.passes.codegen.cuda.cuda_unit import unit
from mlc.pipelines.backends import backend_of
from mlc.target import GpuTarget

STAGES = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan")
USED = re.compile(
    r"Function properties for (\w+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores.*\n.*Used (\d+) reg"
)
OPEN = "(float[b,n,45] x) => (float[b,45] y) { y = ReduceMean <axes = [1], keepdims = 0> (x) }"
OPEN_SUM = "(float[4,n] x, float[n,50] w) => (float[4,50] y) { y = MatMul (x, w) }"
GELU = """(float[197,768] a, float[768,3072] b, float[3072] c) => (float[197,3072] y) {
    d = MatMul (a, b)  x = Add (d, c)  r = Constant <value_float = 1.4142135> ()  q = Div (x, r)  e = Erf (q)
    one = Constant <value_float = 1.0> ()  f = Add (e, one)  y = Mul (x, f)
}"""
SQUARES = """(float[1,256,14,14] x, float[256,256,3,3] w) => (float[1,256,14,14] y) {
    y = Conv <pads = [1, 1, 1, 1]> (x, w)
}"""  # parts of sums by tiles of 128 × 128, of which pixels exist on conditions
LARGE = "(float[1270,70] a, float[70,1280] b) => (float[1270,1280] y) { c = MatMul (a, b)  y = Relu (c) }"


def kernels(text: str, **chosen: Any) -> dict[str, str]:
    imported, options = OnnxSource.of(model_of(text)).imported({}), Options(target=target.get("cuda"), **chosen)
    run(imported.module, imported.weights, options, STAGES)
    return backend_of(options.target).print_kernels(imported.module).strings


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found: dict[str, str] = {}
    sizes = map(text, (*SIZES, (1, 12, 512, 512, 64, 64)))
    for case in (*CASES.values(), ROWS["image"], SHARED, OPEN, OPEN_SUM, *sizes, LARGE, SQUARES):
        found |= kernels(case)
    found |= kernels(GELU, numerics="relaxed") | kernels(LARGE, numerics="relaxed") | kernels(HALVES) | kernels(BYTES)
    file = tmp_path_factory.mktemp("cubins") / "kernels.cu"
    file.write_text(unit(list(found.values())))
    return file


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("arch", [a for t in ("cuda:sm_80", "cuda:sm_90") for a in target.get(t).architectures])  # type: ignore[attr-defined]
def test_kernels_compile_without_spills(arch: str, source: Path) -> None:
    command = ["nvcc", "-cubin", f"-arch={arch}", f"-I{DEVICE}", "-Xptxas", "-v", "-diag-suppress", "177", source]
    done = subprocess.run([*command, "-o", source.with_suffix(f".{arch}")], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[:4000]
    found = {name: [int(stack), int(spills), int(used)] for name, stack, spills, used in USED.findall(done.stderr)}
    gpu = target.get("cuda")
    assert isinstance(gpu, GpuTarget) and len(found) == source.read_text().count("__global__")
    library = {
        name for name in found if "MLC_GRID_THREAD" in source.read_text().partition(name)[2].partition("\n}\n")[0]
    }
    own = {name: use for name, use in found.items() if name not in library}
    most = gpu.registers // (3 * 128)  # of a thread, where three blocks of 128 run on a multiprocessor
    assert not {name: use for name, use in own.items() if use[0] or use[1] or use[2] > most}
    assert {LDGSTS, HMMA} <= opcodes(source.with_suffix(f".{arch}").read_bytes())


LDGSTS, HMMA = 0xFAE, 0x23C  # SASS: asynchronous copies and products of tensor cores, as cuobjdump names them


def opcodes(cubin: bytes) -> set[int]:
    return set(instructions(cubin))


def instructions(cubin: bytes) -> list[int]:
    """The opcodes of all kernels: the low 12 bits of instructions of 16 bytes, in the executable sections."""
    return [word & 0xFFF for text in machine_code(cubin) for word, _ in text]


def machine_code(cubin: bytes) -> list[list[tuple[int, int]]]:
    """The instructions of each kernel, as two words of 64 bits."""
    (start,), (count,) = struct.unpack_from("<Q", cubin, 0x28), struct.unpack_from("<H", cubin, 0x3C)
    sections = [struct.unpack_from("<IIQQQQ", cubin, start + 64 * n) for n in range(count)]
    code = [cubin[at : at + size] for _, kind, flags, _, at, size in sections if (kind, flags & 4) == (1, 4)]
    return [[*struct.iter_unpack("<QQ", text)] for text in code]


BRA = 0x947  # SASS: a branch, whose distance in words of 32 bits is in the 48 bits from bit 34 on; of sm_90 its lowest
BELOW = 16  # 8 bits are in those from this one on


def loops_of(cubin: bytes, opcode: int, hopper: bool = True) -> list[list[int]]:
    """The opcodes of each kernel's shortest loop that has an instruction: from where it begins to the branch back."""
    found = []
    for code in machine_code(cubin):
        loops = []
        for at, (low, high) in enumerate(code):
            words = ((low | high << 64) >> 34) & (1 << 48) - 1
            words -= words >> 47 << 48
            words = words << 8 | low >> BELOW & 0xFF if hopper else words
            first = at + 1 + words // 4
            body = [word & 0xFFF for word, _ in code[first : at + 1]]
            if low & 0xFFF == BRA and first < at and opcode in body:
                loops.append(body)
        found += [min(loops, key=len)] if loops else []
    return found


HALVES, BYTES = (
    LARGE.replace("float", "float16"),
    "(uint8[1300,70] a, int8[70,1280] b) => (int32[1300,1280] y) { y = MatMulInteger (a, b) }",
)
INSTRUCTIONS = {
    "halves": (HALVES, {}, ("HMMA.16816.F32", "LDSM.16.M88.4", "LDSM.16.MT88.4")),
    "bytes": (BYTES, {}, ("IMMA.16832.U8.S8", "LDSM.16.M88.4")),
    "floats": (LARGE, {"numerics": "relaxed"}, ("HMMA.1688.F32.TF32", "LDSM.16.M88.4")),
}


@pytest.mark.skipif(not (shutil.which("nvcc") and shutil.which("cuobjdump")), reason="needs nvcc and cuobjdump")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_products_have_the_instructions_of_tensor_cores(name: str, arch: str, tmp_path: Path) -> None:
    text, options, wanted = INSTRUCTIONS[name]
    (tmp_path / "k.cu").write_text(unit(list(kernels(text, **options).values())))
    command = ["nvcc", "-cubin", f"-arch={arch}", f"-I{DEVICE}", "-Xptxas", "-v", tmp_path / "k.cu"]
    done = subprocess.run([*command, "-o", tmp_path / "k.cubin"], capture_output=True, text=True, check=True)
    assert {(int(stack), int(spills)) for _, stack, spills, _ in USED.findall(done.stderr)} == {(0, 0)}
    code = subprocess.run(["cuobjdump", "-sass", tmp_path / "k.cubin"], capture_output=True, text=True, check=True)
    assert not [each for each in wanted if each not in code.stdout]


def test_a_large_product_reads_shared_memory_and_holds_a_square() -> None:
    """Operands pass through shared memory, and a thread of 256 has 64 elements of a tile of 128 × 128."""
    (text,) = kernels(LARGE).values()
    assert "MLC_DYNAMIC_SHARED" in text and "__launch_bounds__(256, 2)" in text
    assert len(re.findall(r"float v\d+_\d+ = 0\.0f;", text)) == 64
    (relaxed,) = kernels(LARGE, numerics="relaxed").values()
    assert relaxed.count("mlc_mma_tf32(") == 32  # 4 × 4 fragments of a warp, in 2 steps of 8


def test_conditional_stores_are_a_constant_away_from_one_pointer() -> None:
    """So the compiler computes one address, and not the whole of it in each condition: 64 did not fit registers."""
    text = next(each for each in kernels(SQUARES).values() if len(re.findall(r" v\d+_\d+ = 0\.0f;", each)) == 64)
    stores = re.findall(r"if \((.*)\) (v\d+)\[(\d+)\] = v\d+_\d+;", text)
    conditions, pointers, offsets = (set(each) for each in zip(*stores, strict=True))
    assert (len(stores), len(conditions), len(pointers)) == (64, 4, 1)
    assert {int(each) for each in offsets} == {196 * row + column for row in range(16) for column in range(0, 128, 32)}
    assert re.search(rf"float \*const {pointers.pop()} = b2 \+ ", text)


MOST_BESIDE = {"warps=2x4": 56, "warps=2x2": 64}  # instructions of the loop beside its HMMA; Triton has 93 and 106


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("tile, warps", [("m/128p n/128vp", "warps=2x4"), ("m/128p n/64vp", "warps=2x2")])
def test_the_loop_of_a_product_adds_little_to_its_products(tile: str, warps: str, tmp_path: Path) -> None:
    """Operands are known to be aligned, and fragments lie constants apart: one address is computed for several."""
    schedule = f"contract_0: contraction: S0 S1 | {tile} | k/32 | {warps}"
    large = HALVES.replace("1270", "4096").replace("70", "4096").replace("1280", "4096")
    (tmp_path / "k.cu").write_text(unit(list(kernels(large, schedule=schedule).values())))
    command = ["nvcc", "-cubin", "-arch=sm_80", f"-I{DEVICE}", "-Xptxas", "-v", tmp_path / "k.cu"]
    done = subprocess.run([*command, "-o", tmp_path / "k.cubin"], capture_output=True, text=True, check=True)
    assert {(int(stack), int(spills)) for _, stack, spills, _ in USED.findall(done.stderr)} == {(0, 0)}
    (loop,) = loops_of((tmp_path / "k.cubin").read_bytes(), HMMA, hopper=False)
    assert loop.count(HMMA) == 32 and len(loop) - 32 <= MOST_BESIDE[warps]
