"""com.microsoft: GatherBlockQuantized, MatMulBnb4, MatMulFpQ4: weights whose blocks have a scale each."""

from __future__ import annotations

import numpy as np

from mlc.dialects.graph import BitcastOp
from mlc.dialects.semantics.dims import DimLike, ceildiv
from mlc.dialects.types import is_float, is_narrow
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.contraction import matmul
from mlc.frontends.build.ops.indexing.gather import wrapped
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

# The numbers of 4-bit codes. FP4: a sign, two bits of exponent, one of mantissa, over the greatest, 12; NF4: quantiles
# of the normal distribution (Dettmers et al., QLoRA, 2023, appendix E).
FP4 = [0, 0.0625 / 12, 8 / 12, 1, 4 / 12, 6 / 12, 2 / 12, 3 / 12]
NF4 = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
]  # fmt: skip
CODES = {0: [*FP4, *(-x for x in FP4)], 1: NF4}
Q4_BLOCKS = {0: (32, False), 1: (32, True)}  # elements of a block; whether it has a zero point


@onnx_op("GatherBlockQuantized", domain=DOMAIN)
def gather_block_quantized(node: Node) -> Tensor:
    """Slices along an axis, dequantized; zeros where an index is outside.

    The data is of 4 bits, of narrow floats, or packs elements of 2, 4 or 8 bits into bytes along its last dimension.
    """
    node.only("bits", "block_size", "gather_axis", "quantize_axis")
    data, indices, scales, build = node[0], node[1], node[2], node.build
    along = normalize_axis(node.attr("gather_axis", 0), data.rank)
    quantized = normalize_axis(node.attr("quantize_axis", 1), data.rank)
    per, bits = _packing(node, along, quantized)
    size = node.attr("block_size", 128) or data.shape[quantized]
    extents = [d * per if n == quantized else d for n, d in enumerate(data.shape)]
    _check_scales(node, quantized, extents, size)
    names = [f"i{n}" for n in range(data.rank - 1 + indices.rank)]
    index = wrapped(indices, f"x1[{', '.join(names[along : along + indices.rank]) or '()'}]", extents[along])
    at = [*names[:along], index, *names[along + indices.rank :]]
    blocks = [f"({a}) // ({size})" if n == quantized else a for n, a in enumerate(at)]
    read = [b if scales.shape[n] != 1 or n == quantized else "0" for n, b in enumerate(blocks)]
    value = _element(data, at, per, bits, "x0")
    zero = node.get(3)
    if zero is not None:
        value = f"{value} - {_element(zero, blocks, per, bits, 'x3')}"
    elif data.element == "ui8":
        value = f"{value} - {1 << (bits - 1)}"
    given = f"f32({value}) * f32(x2[{', '.join(read)}])"
    inside = f"({index} >= 0) & ({index} < {extents[along]})"
    shape = [*extents[:along], *indices.shape, *extents[along + 1 :]]
    operands = [data, indices, scales, *([] if zero is None else [zero])]
    return build.cast(build.compute(f"where({inside}, {given}, 0)", operands, shape), scales.element)


def _packing(node: Node, along: int, quantized: int) -> tuple[int, int]:
    """Elements of one stored element, and their bits."""
    data, bits, size = node[0], node.attr("bits", 4), node.attr("block_size", 128)
    if is_float(data.element) or (is_narrow(data.element) and data.element[0] == "f"):
        if node.has(3):
            raise NotSupported(f"zero points of {data.element}, which is symmetric; leave them out")
        return 1, 8
    if size < 16 or size & (size - 1):
        raise NotSupported(f"attribute 'block_size' = {size}; it is a power of 2 of at least 16")
    if data.element != "ui8":
        if bits != 4:
            raise NotSupported(f"attribute 'bits' = {bits} of {data.element}; only 4 is")
        return 1, 4
    if bits not in (2, 4, 8):
        raise NotSupported(f"attribute 'bits' = {bits}; elements of 2, 4 or 8 bits are packed into bytes")
    if along != 0 or quantized != data.rank - 1 or data.rank < 2:
        raise NotSupported(f"axes {along} and {quantized} of packed {data}; slices of axis 0, blocks of the last one")
    return 8 // bits, bits


def _check_scales(node: Node, quantized: int, extents: list[DimLike], size: DimLike) -> None:
    data, scales = node[0], node[2]
    wanted = [ceildiv(d, size) if n == quantized else d for n, d in enumerate(extents)]
    narrow = data.element[0] == "f"
    pairs = enumerate(zip(scales.shape, wanted, strict=False))
    fits = [s == w or (narrow and n != quantized and s == 1) for n, (s, w) in pairs]
    if scales.rank != data.rank or not all(fits):
        raise NotSupported(f"scales {scales} of {data}; their shape should be {wanted}")


def _element(x: Tensor, at: list[str], per: int, bits: int, name: str) -> str:
    """The element at an index of unpacked elements, as an expression of i32, or of f32."""
    if x.element != "ui8":
        return f"{'f32' if x.element[0] == 'f' else 'i32'}({name}[{', '.join(at)}])"
    if per == 1:
        return f"i32({name}[{', '.join(at)}])"
    packed = ", ".join([*at[:-1], f"({at[-1]}) // {per}"])
    return f"((i32({name}[{packed}]) >> i32({bits} * (({at[-1]}) % {per}))) & {(1 << bits) - 1})"


@onnx_op("MatMulBnb4", domain=DOMAIN)
def matmul_bnb4(node: Node) -> Tensor:
    """x times the transpose of a weight [N, K] (or, with transB 0, the weight) of 4-bit codes of numbers."""
    node.only("K", "N", "block_size", "quant_type", "training_mode", "transB")
    build, k, n, size = node.build, node.attr("K"), node.attr("N"), node.attr("block_size")
    kind = node.attr("quant_type")
    if kind not in CODES or size < 16 or size & (size - 1):
        raise NotSupported(f"quant_type {kind}, block_size {size}; 0 (FP4) or 1 (NF4), in blocks of 16, 32, 64, …")
    codes = Tensor.from_known(np.array(CODES[kind], np.float32))
    packed, scales = build.reshape(node[1], ((n * k + 1) // 2,)), build.reshape(node[2], (-(-n * k // size),))
    at = f"(i0 * {k} + i1)"
    code = f"(i64(x0[{at} // 2]) >> (4 - 4 * ({at} % 2))) & 15"
    weight = build.compute(f"x2[{code}] * f32(x1[{at} // {size}])", [packed, scales, codes], (n, k))
    weight = build.cast(weight, node[0].element)
    return matmul(build, node[0], build.transpose(weight, [1, 0]) if node.attr("transB", 1) else weight)


@onnx_op("MatMulFpQ4", domain=DOMAIN)
def matmul_fp_q4(node: Node) -> Tensor:
    """x times a matrix [K, N] that is stored by columns in blocks: a scale of f32, maybe a zero point, and 4 bits an
    element, where byte n of 32 elements has those at n and n + 16."""
    node.only("blk_quant_type")
    build, kind = node.build, node.attr("blk_quant_type", 1)
    if kind not in Q4_BLOCKS:
        raise NotSupported(f"attribute 'blk_quant_type' = {kind}; only 0 and 1 are, blocks of 32")
    (k, n), (size, zero) = node.ints(2), Q4_BLOCKS[kind]
    blocks, width = -(-k // size), 4 + zero + size // 2
    data = build.reshape(node[1], (n, blocks, width))
    scales = build.map("as_f32(x0)", build.emit(BitcastOp(build.value(build.cut(data, 2, 0, 4)))))
    byte = f"i32(x0[i1, i0 // {size}, {4 + zero} + i0 % 16])"
    middle = f"i32(i8(x0[i1, i0 // {size}, 4]))" if zero else "8"
    value = f"f32((({byte} >> i32(4 * (i0 // 16 % 2))) & 15) - {middle}) * x1[i1, i0 // {size}, 0]"
    return matmul(build, node[0], build.compute(value, [data, scales], (k, n)))
