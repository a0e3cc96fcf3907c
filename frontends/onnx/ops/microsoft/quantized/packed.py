"""com.microsoft: GatherPacked, rows of a table in a block format of GGUF files.

Source: the formats' description, github.com/ggml-org/ggml/blob/master/docs/gguf.md; onnxruntime's GatherPacked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.reading.types import element_of_onnx

NONLINEAR = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]  # numbers of the codes of IQ4
Byte = Callable[[str], str]
"""The byte at an offset in a block, as an expression of i32."""


def _half(byte: Byte, at: int) -> str:
    return f"f32(as_f16(ui16({byte(str(at))} | ({byte(str(at + 1))} << 8))))"


def _signed(byte: str) -> str:
    return f"(({byte} ^ 128) - 128)"


def _nibble(byte: Byte, start: int) -> str:
    """Of 32 elements: the low halves of 16 bytes, then the high ones."""
    return f"(({byte(f'{start} + j % 16')} >> i32(j // 16 * 4)) & 15)"


def _q5_0(byte: Byte) -> str:
    fifth = f"(({byte('2 + j // 8')} >> i32(j % 8)) & 1)"
    return f"{_half(byte, 0)} * f32(({_nibble(byte, 6)} | ({fifth} << 4)) - 16)"


def _q5_k(byte: Byte) -> str:
    """Of 256: eight parts of 32 with a scale and a minimum of 6 bits each, in 12 bytes."""
    part, high = "j // 32", lambda at: f"({byte(at)} >> 6 << 4)"
    scale = f"where({part} < 4, {byte('4 + j // 32')} & 63, ({byte('8 + j // 32')} & 15) | {high('j // 32')})"
    least = f"where({part} < 4, {byte('8 + j // 32')} & 63, ({byte('8 + j // 32')} >> 4) | {high('4 + j // 32')})"
    low = f"(({byte('48 + j // 64 * 32 + j % 32')} >> i32(j // 32 % 2 * 4)) & 15)"
    fifth = f"(({byte('16 + j % 32')} >> i32({part})) & 1)"
    return f"{_half(byte, 0)} * f32({scale}) * f32({low} | ({fifth} << 4)) - {_half(byte, 2)} * f32({least})"


def _q6_k(byte: Byte) -> str:
    """Of 256: two halves of 128, in each of which byte l has bits of the elements l, l + 32, l + 64 and l + 96."""
    low = f"(({byte('j // 128 * 64 + j % 64')} >> i32(j % 128 // 64 * 4)) & 15)"
    high = f"(({byte('128 + j // 128 * 32 + j % 32')} >> i32(j % 128 // 32 * 2)) & 3)"
    return f"{_half(byte, 208)} * f32({_signed(byte('192 + j // 16'))}) * f32(({low} | ({high} << 4)) - 32)"


def _iq4_xs(byte: Byte) -> str:
    """Of 256: eight parts of 32 with a scale of 6 bits each."""
    low = f"(({byte('4 + j // 64')} >> i32(j // 32 % 2 * 4)) & 15)"
    high = f"(((({byte('2')}) | ({byte('3')} << 8)) >> i32(j // 32 * 2)) & 3)"
    code = f"(({byte('8 + j // 32 * 16 + j % 16')} >> i32(j % 32 // 16 * 4)) & 15)"
    return f"{_half(byte, 0)} * f32(({low} | ({high} << 4)) - 32) * x2[i64({code})]"


def _float(byte: Byte) -> str:
    return "as_f32(" + " | ".join(f"({byte(str(n))} << {8 * n})" for n in range(4)) + ")"


# Number of the format -> (elements of a block, bytes of it, element ``j`` of a block)
FORMATS: dict[int, tuple[int, int, Callable[[Byte], str]]] = {
    0: (1, 4, _float),
    1: (1, 2, lambda byte: _half(byte, 0)),
    2: (32, 18, lambda byte: f"{_half(byte, 0)} * f32({_nibble(byte, 2)} - 8)"),
    6: (32, 22, _q5_0),
    8: (32, 34, lambda byte: f"{_half(byte, 0)} * f32({_signed(byte('2 + j'))})"),
    13: (256, 176, _q5_k),
    14: (256, 210, _q6_k),
    20: (32, 18, lambda byte: f"{_half(byte, 0)} * x2[i64({_nibble(byte, 2)})]"),
    23: (256, 136, _iq4_xs),
    30: (1, 2, lambda byte: f"as_f32(({byte('0')} << 16) | ({byte('1')} << 24))"),
}
_NAMES = ("F32", "F16", "Q4_0", "Q5_0", "Q8_0", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "BF16")
NAMES = dict(zip(FORMATS, _NAMES, strict=True))


@onnx_op("GatherPacked", domain=DOMAIN)
def gather_packed(node: Node) -> Tensor:
    """[…, K]: rows of a table [rows, bytes], dequantized; the first one where an index is outside."""
    node.only("K", "packed_type", "output_dtype")
    data, indices, build, kind, k = node[0], node[1], node.build, node.attr("packed_type"), node.attr("K")
    if kind not in FORMATS:
        known = ", ".join(f"{n} ({name})" for n, name in NAMES.items())
        raise NotSupported(f"attribute 'packed_type' = {kind}; supported are {known}")
    size, width, element = FORMATS[kind]
    if k < 1 or k % size or data.rank != 2 or data.shape[1] != k // size * width:
        raise NotSupported(f"rows {data} of {k} elements; {size} of them take {width} bytes")
    at, last = ", ".join(f"i{n}" for n in range(indices.rank)) or "()", f"i{indices.rank}"
    index = f"i64(x1[{at}])"
    row = f"where(({index} < 0) | ({index} >= {data.shape[0]}), 0, {index})"

    def byte(offset: str) -> str:
        return f"i32(x0[{row}, {last} // {size} * {width} + {offset.replace('j', f'({last} % {size})')}])"

    text = element(byte).replace("j", f"({last} % {size})")
    operands = [data, indices, *([Tensor.from_known(np.array(NONLINEAR, np.float32))] if "x2[" in text else [])]
    y = build.compute(text, operands, (*indices.shape, k))
    return build.cast(y, element_of_onnx(node.attr("output_dtype", 16)))
