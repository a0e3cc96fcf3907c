"""Contractions: MatMul, Gemm, Einsum; Det."""

from __future__ import annotations

from mlc.frontends.build.ops import contraction
from mlc.frontends.build.ops.linalg import elimination
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("MatMul")
def matmul(node: Node) -> Tensor:
    return contraction.matmul(node.build, node[0], node[1])


@onnx_op("Gemm")
def gemm(node: Node) -> Tensor:
    transposed = bool(node.flag("transA", 0)), bool(node.flag("transB", 0))
    factors = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    a = node[0]
    if a.rank == 1:  # onnxruntime: a row, or of a transposed one a column; both are [1, n] in memory
        a = node.build.reshape(a, (1, *a.shape))
    return contraction.gemm(node.build, a, node[1], node.get(2), transposed, factors)


@onnx_op("Einsum")
def einsum(node: Node) -> Tensor:
    return contraction.einsum(node.build, node.attr("equation"), node.tensors())


@onnx_op("Det", since=11)
def determinant(node: Node) -> Tensor:
    return elimination.determinant(node.build, node[0])
