"""com.microsoft: MatMulNBits, a product with a weight of 2, 4 or 8 bits that has a scale for each block of columns.

Few rows multiply the integers as they are stored: the weight is read from memory once, and unpacked in registers. For
many it is unpacked when the model is compiled, or multiplied as bytes where the accuracy level allows that.
"""

from __future__ import annotations

from mlc.dialects.graph import BitcastOp, ComputeOp
from mlc.dialects.semantics.block_sums import FEW_ROWS, WORD, BlockSum
from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.contraction import matmul
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

BYTES = 4  # the accuracy level that allows to multiply bytes


@onnx_op("MatMulNBits", domain=DOMAIN)
def matmul_n_bits(node: Node) -> Tensor:
    """x times the transpose of a weight of 2, 4 or 8 bits.

    An ``accuracy_level`` of 4 lets a target round x to bytes, block by block; others compute in the element of x.
    ``g_idx`` [K] says of which block of columns each has the scale (GPTQ's order by activations).
    """
    node.only("K", "N", "bits", "block_size", "accuracy_level", weight_prepacked=0)
    x, build, bias = node[0], node.build, node.get(5)
    if node.attr("bits", 4) not in (2, 4, 8):
        raise NotSupported(f"attribute 'bits' = {node.attr('bits')}; weights of 2, 4 or 8 bits are supported")
    rows, in_bytes = product(x.shape[:-1]), _takes_bytes(node) and x.element == "f32"
    if node.has(4) or (isinstance(rows, int) and rows > FEW_ROWS and not in_bytes):
        y = matmul(build, x, build.cast(build.transpose(_unpacked(node), [1, 0]), x.element))
    else:
        y = build.reshape(build.cast(_packed_product(node), x.element), (*x.shape[:-1], node.attr("N")))
    return y if bias is None else build.map("x0 + x1", y, bias)


def _takes_bytes(node: Node) -> bool:
    return bool(node.attr("accuracy_level", 0) == BYTES)


def _packed_product(node: Node) -> Tensor:
    """The product [rows, N], in f32, of integers packed in 32-bit elements [N, blocks, elements]."""
    build, x, bits, block = node.build, node[0], node.attr("bits", 4), node.attr("block_size")
    n, k, per = node.attr("N"), node.attr("K"), WORD // bits
    blocks = -(-k // block)
    flat = build.cast(build.reshape(x, (product(x.shape[:-1]), k)), "f32")
    flat = build.pad(flat, [0, 0], [0, blocks * block - k])
    packed = build.emit(BitcastOp(build.value(build.reshape(node[1], (n, blocks, block * bits // 8)))))
    scales = build.cast(build.reshape(node[2], (n, blocks)), "f32")
    zeros = _zeros(node, n, blocks, bits)
    operands = [flat, packed, scales, *([] if zeros is None else [zeros])]
    values = [build.value(v) for v in operands]
    text, rounds = BlockSum(bits, block, zeros is not None).text, "i8" if _takes_bytes(node) else None
    return build.emit(ComputeOp(text, values, (flat.shape[0], n), (blocks, block // per, per), "add", rounds))


def _zeros(node: Node, n: int, blocks: int, bits: int) -> Tensor | None:
    """Zero points [N, blocks], of ui8 or f32; None where they are the middle."""
    zero, build, per = node.get(3), node.build, 8 // bits
    if zero is None:
        return None
    if zero.element != "ui8":
        return build.cast(build.reshape(zero, (n, blocks)), "f32")
    packed = build.reshape(zero, (n, -(-blocks // per)))
    integer = f"(i64(x0[i0, i1 // {per}]) >> ({bits} * (i1 % {per}))) & {2**bits - 1}"
    return build.compute(f"ui8({integer})", [packed], (n, blocks))


def _unpacked(node: Node) -> Tensor:
    """The weight [N, K] in the element of the scales."""
    build, bits, block = node.build, node.attr("bits", 4), node.attr("block_size")
    n, k = node.attr("N"), node.attr("K")
    blocks, per = -(-k // block), 8 // bits
    scales, zeros = build.reshape(node[2], (n, blocks)), _zeros(node, n, blocks, bits)
    packed = build.reshape(node[1], (n, blocks, block // per))
    given = [packed, scales, *([] if zeros is None else [zeros])]
    group = f"i1 // {block}"
    if (order := node.get(4)) is not None:
        group = f"x{len(given)}[i1]"
        given.append(build.cast(order, "i64"))
    value = f"((i64(x0[i0, i1 // {block}, i1 % {block} // {per}]) >> ({bits} * (i1 % {per}))) & {2**bits - 1})"
    zero = str(2 ** (bits - 1)) if zeros is None else f"{scales.element}(x2[i0, {group}])"
    return build.compute(f"({scales.element}({value}) - {zero}) * x1[i0, {group}]", given, (n, k))
