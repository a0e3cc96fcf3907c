"""Local arrays of loops in C: variables where every access is at a constant offset, else memory."""

from __future__ import annotations

from xdsl.parser import Parser
from xdsl.universe import Universe

from mlc.dialects.kernel import FuncOp
from mlc.passes.codegen.cpu.c_kernel import print_kernel
from mlc.passes.context import MlcContext

STATE = """
kernel.func @loop_0(%x: memref<3x3xf64>, %ys: memref<9xf64>, %out: memref<9xf64>) attributes {serial = "a loop"} {
  %old = kernel.local : memref<3x3xf64>
  %new = kernel.local : memref<3x3xf64>
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  kernel.copy %x, %old : memref<3x3xf64>, memref<3x3xf64>
  kernel.repeat "step0" to "9" {
    %v = kernel.read %old[%c0] {strides = array<i64: 3, 1>} : memref<3x3xf64> -> vector<3x3xf64>
    %w = arith.addf %v, %v : vector<3x3xf64>
    kernel.write %w, %new[%c0] {strides = array<i64: 3, 1>} : vector<3x3xf64>, memref<3x3xf64>
    %a = kernel.view %old "32" : memref<3x3xf64> -> memref<f64>
    %y = kernel.view %ys "8*step0" : memref<9xf64> -> memref<f64>
    kernel.copy %a, %y : memref<f64>, memref<f64>
    ACCESS
    kernel.copy %new, %old : memref<3x3xf64>, memref<3x3xf64>
  }
  kernel.copy %old, %out : memref<3x3xf64>, memref<9xf64>
  kernel.return
}"""


def printed(access: str) -> str:
    context = MlcContext()
    for name, load in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, load)
    module = Parser(context, STATE.replace("ACCESS", access)).parse_module()
    module.verify()
    return print_kernel(next(o for o in module.ops if isinstance(o, FuncOp)), "k", lanes=8)


def test_rows_are_variables_that_one_thread_has() -> None:
    text = printed("")
    assert "_Alignas" not in text and "memcpy" not in text and "if (tid) return;" in text
    assert text.count("f64x4 v1_") == 3 and "v1_0 = mlc_load_n_f64x4(b0 + 0, 3);" in text
    assert "v1_0 = v2_0;" in text and "mlc_store_n_f64x4(b2 + 0 + 3, v1_1, 3);" in text
    assert "[0] = v1_1[1];" in text  # element 4 is the second of the second row
    assert "const double *restrict b0" in text and "  double *restrict b1" in text and "  double *restrict b2" in text


def test_columns_and_scalars_are_lanes() -> None:
    read = "%col = kernel.read %old[%c0] {strides = array<i64: 3>} : memref<3x3xf64> -> vector<3xf64>\n"
    text = printed(read + "kernel.write %col, %new[%c3] {strides = array<i64: 1>} : vector<3xf64>, memref<3x3xf64>")
    assert "(f64x4){v1_0[0], v1_1[0], v1_2[0]}" in text and "_Alignas" not in text


def test_an_array_that_is_gathered_is_in_memory() -> None:
    text = printed('%n = kernel.symbol "step0"\n%i = arith.index_cast %n : index to i64\n'
                   "%g = kernel.gather %old[%i] : memref<3x3xf64>, i64 -> f64")  # fmt: skip
    assert text.count("_Alignas(64) double") == 2  # with the array that is copied into it
