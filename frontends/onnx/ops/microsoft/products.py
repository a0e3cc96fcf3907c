"""com.microsoft: FusedMatMul, MatMulIntegerToFloat, DynamicQuantizeMatMul, QGemm."""

from __future__ import annotations

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.contraction import matmul
from mlc.frontends.build.ops.quantization import dynamic_matmul, quantize
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN


@onnx_op("FusedMatMul", "TransposeMatMul", domain=DOMAIN)
def fused_matmul(node: Node) -> Tensor:
    """alpha times a product of matrices, of which either may be transposed, and may have its rows before its batch."""
    node.only("alpha", "transA", "transB", "transBatchA", "transBatchB")
    a, b = (_batched(node.build, node[n], node.attr(f"transBatch{'AB'[n]}", 0)) for n in range(2))
    a, b = (_transposed(node.build, x, node.attr(f"trans{'AB'[n]}", 0)) for n, x in enumerate((a, b)))
    y, alpha = matmul(node.build, a, b), node.attr("alpha", 1.0)
    return y if alpha == 1 else node.build.map(f"x0 * {literal(alpha)}", y)


@onnx_op("SparseToDenseMatMul", domain=DOMAIN)
def sparse_to_dense_matmul(node: Node) -> Tensor:
    """alpha times a product of a sparse matrix, which is taken with its zeros; either factor may be transposed."""
    node.only("alpha", "transA", "transB")
    a, b = (_transposed(node.build, node[n], node.attr(f"trans{'AB'[n]}", 0)) for n in range(2))
    y, alpha = matmul(node.build, a, b), node.attr("alpha", 1.0)
    return y if alpha == 1 else node.build.map(f"{y.element}({literal(alpha)} * f64(x0))", y)


def _batched(build: Builder, x: Tensor, rows_first: int) -> Tensor:
    """[…, rows, columns] of [rows, …, columns]."""
    return build.transpose(x, [*range(1, x.rank - 1), 0, x.rank - 1]) if rows_first and x.rank > 2 else x


def _transposed(build: Builder, x: Tensor, wanted: int) -> Tensor:
    if not wanted or x.rank < 2:
        return x
    return build.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def _centred(build: Builder, x: Tensor, zero: Tensor | None) -> Tensor:
    """x - zero in 32 bits; one zero point, or one a column."""
    return build.cast(x, "i32") if zero is None else build.map("i32(x0) - i32(x1)", x, _one(build, zero))


def _one(build: Builder, x: Tensor) -> Tensor:
    return build.reshape(x, ()) if x.shape == (1,) else x


@onnx_op("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(node: Node) -> Tensor:
    """(A - zero) (B - zero) times both scales, plus a bias."""
    node.only()
    build, bias = node.build, node.get(6)
    a, b = _centred(build, node[0], node.get(4)), _centred(build, node[1], node.get(5))
    scale = build.map("x0 * x1", _one(build, node[2]), _one(build, node[3]))
    y = build.map("f32(x0) * x1", matmul(build, a, b), scale)
    return y if bias is None else build.map("x0 + x1", y, bias)


@onnx_op("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(node: Node) -> Tensor:
    """A quantized by its own range (as DynamicQuantizeLinear) times B of 8 bits, plus a bias."""
    node.only()
    build, bias, zero = node.build, node.get(4), node.get(3)
    y = dynamic_matmul(build, node[0], node[1], _one(build, node[2]), None if zero is None else _one(build, zero))
    return y if bias is None else build.map("x0 + x1", y, bias)


@onnx_op("QGemm", domain=DOMAIN)
def qgemm(node: Node) -> Tensor:
    """alpha times a product of 8-bit matrices plus a bias of 32 bits; quantized where an output scale is given."""
    node.only("alpha", "transA", "transB")
    build, bias, out = node.build, node.get(6), node.get(7)
    a = _transposed(build, _centred(build, node[0], node[2]), node.attr("transA", 0))
    b = _transposed(build, node[3], node.attr("transB", 0))
    total = matmul(build, a, _centred(build, b, node[5]))
    total = total if bias is None else build.map("x0 + x1", total, bias)
    scale = build.map(f"x0 * x1 * {literal(node.attr('alpha', 1.0))}", _one(build, node[1]), _one(build, node[4]))
    y = build.map("f32(x0) * x1", total, scale)
    if out is None:
        return y
    zero = _one(build, node[8])
    return quantize(build, y, _one(build, out), zero, zero.element)
