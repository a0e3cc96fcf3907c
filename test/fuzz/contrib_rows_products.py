"""Cases of matrix products: of integers, of weights in blocks, with activations; gathers of weights in blocks."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from contrib import Case, Data, Draw, row
from contrib_rows_quantized import KINDS, narrow, parameters, scale, window

FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float4_e2m1fn")


def factors(d: Draw, n: int, k: int, m: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of two operands of a product of batches."""
    shapes = [((n, k), (k, m)), ((2, n, k), (k, m)), ((2, n, k), (2, k, m)), ((k,), (k, m)), ((n, k), (3, k, m))]
    return d.one(*shapes)  # type: ignore[no-any-return]


@row("MatMulInteger16")
def matmul_integer_16(d: Draw) -> Case:
    left, right = factors(d, d.open("n", 1, 5), d.int(1, 9), d.int(1, 9))
    return Case("MatMulInteger16", [d.bytes(*left, kind="i2"), d.bytes(*right, kind="i2")])


@row("MatMulBnb4")
def matmul_bnb4(d: Draw) -> Case:
    k, n, size = d.int(1, 70), d.int(1, 20), d.one(16, 32, 64, 128)
    x = d.normal(*d.one((d.open("rows", 1, 5), k), (2, d.open("rows", 1, 5), k)))
    weight = [d.bytes((n * k + 1) // 2, constant=True), d.uniform(0, 2, -(-n * k // size), constant=True)]
    how = {"K": k, "N": n, "block_size": size, "quant_type": d.int(0, 1)}
    return Case("MatMulBnb4", [x, *weight], how | ({"training_mode": 1} if d.flip(0.2) else {}))


@row("MatMulFpQ4")
def matmul_fp_q4(d: Draw) -> Case:
    kind, k, n = d.int(0, 1), d.int(1, 90), d.int(1, 9)
    blocks = -(-k // 32)
    blob = d.integers(0, 256, n, blocks, 20 + kind, kind="u1", constant=True).array
    blob[..., :4] = d.normal(n, blocks, 1, constant=True).array.view("u1").reshape(n, blocks, 4)
    blob[..., 4 : 4 + kind] %= 16
    x = d.normal(*d.one((d.open("rows", 1, 5), k), (2, d.open("rows", 1, 5), k)))
    inputs = [x, d.data(blob.ravel(), blob.ravel().shape, constant=True), d.given([k, n], "i8")]
    return Case("MatMulFpQ4", inputs, {} if kind and d.flip() else {"blk_quant_type": kind})


@row("GatherBlockQuantized")
def gather_block_quantized(d: Draw) -> Case:
    """Of integers packed into bytes."""
    bits, size, kind = d.one(2, 4, 8), d.one(16, 32), d.one("f4", "f2")
    outer = d.one((5,), (5, 3))
    data = d.bytes(*outer, 48 * bits // 8, constant=True)
    blocks = -(-48 // size)
    zero = d.bytes(*outer, -(-blocks * bits // 8), constant=True) if d.flip() else None
    inputs = [data, _indices(d, 5), d.normal(*outer, blocks, kind=kind, constant=True), zero]
    how = {"bits": bits, "quantize_axis": d.one(len(outer), -1), "block_size": size}
    return Case("GatherBlockQuantized", inputs, how | ({"gather_axis": 0} if d.flip() else {}))


def _indices(d: Draw, extent: int) -> Data:
    """Some of them outside, which gives zeros."""
    n = d.open("n", 1, 4)
    return d.integers(-extent - 2, extent + 2, *d.one((n,), (2, n), ()), kind=d.one("i4", "i8"))


@row("GatherBlockQuantized, narrow")
def gather_block_quantized_narrow(d: Draw) -> Case:
    """Of 4-bit integers and narrow floats, along any axis."""
    kind, shape, size = d.one("int4", "uint4", *FLOATS), d.one((6, 40), (6, 40, 5)), d.one(16, 32)
    along, blocked = (d.int(-len(shape), len(shape) - 1) for _ in range(2))
    extents = [-(-e // size) if n == blocked % len(shape) else e for n, e in enumerate(shape)]
    how: dict[str, Any] = {"gather_axis": along, "quantize_axis": blocked, "block_size": size}
    if kind in FLOATS:
        drawn = d.normal(*shape, scale=2, constant=True).array.astype(getattr(ml_dtypes, kind))
        data, zero = d.data(drawn, shape, constant=True), None
        extents = [1 if n != blocked % len(shape) and d.flip(0.3) else e for n, e in enumerate(extents)]
        if d.flip(0.3):
            how["block_size"], extents[blocked] = 0, 1
    else:
        data, zero = narrow(d, kind, *shape), narrow(d, kind, *extents) if d.flip() else None
    scales = d.normal(*extents, kind=d.one("f4", "f2"), constant=True)
    return Case("GatherBlockQuantized", [data, _indices(d, shape[along]), scales, zero], how)


@row("QGemm")
def qgemm(d: Draw) -> Case:
    kind, m, k, n = d.one(*KINDS), d.open("m", 1, 5), d.int(1, 9), d.int(1, 9)
    left, right, each = d.int(0, 1), d.int(0, 1), d.flip(0.3)
    other = "i1" if kind == "i1" else d.one(*KINDS)
    b = d.bytes(*((n, k) if right else (k, n)), kind=other, constant=True)
    b_zero = d.given(np.zeros(n), other) if each else d.bytes(kind=other, constant=True)
    inputs = [d.bytes(*((k, m) if left else (m, k)), kind=kind), *parameters(d, kind)]
    inputs += [b, scale(d, *([n] if each else [])), b_zero]
    inputs += [d.integers(-900, 900, *d.one((n,), (1, n)), constant=True) if d.flip() else None]
    inputs += [d.uniform(0.5, 2, constant=True), d.bytes(kind=kind, constant=True)] if d.flip() else []
    how = {"transA": left, "transB": right} | ({"alpha": d.one(0.5, 2.0)} if d.flip() else {})
    return Case("QGemm", inputs, how, steps=1)


@row("MatMulIntegerToFloat")
def matmul_integer_to_float(d: Draw) -> Case:
    kind, each, k, n = d.one(*KINDS), d.flip(0.4), d.int(1, 9), d.int(1, 9)
    left, right = factors(d, d.open("n", 1, 5), k, n)
    other = "i1" if kind == "i1" else d.one(*KINDS)
    columns = (n,) if each and len(right) == 2 else ()
    inputs = [d.bytes(*left, kind=kind), d.bytes(*right, kind=other, constant=True), scale(d), scale(d, *columns)]
    inputs += [d.bytes(kind=kind) if d.flip() else None, d.bytes(*columns, kind=other) if d.flip() else None]
    return Case("MatMulIntegerToFloat", [*inputs, d.normal(n) if d.flip() else None])


@row("DynamicQuantizeMatMul")
def dynamic_quantize_matmul(d: Draw) -> Case:
    k, n, kind = d.int(1, 9), d.int(1, 9), d.one(*KINDS)
    x = d.normal(*d.one((d.open("n", 1, 5), k), (2, d.open("n", 1, 5), k)))
    columns = (n,) if d.flip(0.4) else ()
    inputs = [x, d.bytes(k, n, kind=kind, constant=True), scale(d, *columns)]
    inputs += [d.bytes(*columns, kind=kind, constant=True) if d.flip() else None]
    return Case("DynamicQuantizeMatMul", [*inputs, d.normal(n) if d.flip() else None], rtol=0.02)


@row("FusedMatMul")
def fused_matmul(d: Draw) -> Case:
    n, k, m, batch = d.open("n", 1, 5), d.int(1, 6), d.int(1, 6), d.one((), (3,), (2, 3))
    how: dict[str, Any] = {"alpha": d.one(1.0, 0.5)} if d.flip() else {}
    shapes = []
    for side, (rows, columns) in (("A", (n, k)), ("B", (k, m))):
        turned, outside = d.flip(), bool(batch) and d.flip(0.3)
        how |= ({f"trans{side}": 1} if turned else {}) | ({f"transBatch{side}": 1} if outside else {})
        rows, columns = (columns, rows) if turned else (rows, columns)
        shapes.append((rows, *batch, columns) if outside else (*batch, rows, columns))
    return Case("FusedMatMul", [d.normal(*shape, kind=d.one("f4")) for shape in shapes], how)


ACTIVATIONS = {
    "Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"),
    "Celu": ("alpha",), "ThresholdedRelu": ("alpha",), "Elu": ("alpha",), "Softplus": (), "Softsign": (),
    "Selu": ("alpha", "gamma"), "ParametricSoftplus": ("alpha", "beta"), "ScaledTanh": ("alpha", "beta"),
}  # fmt: skip


@row("FusedGemm")
def fused_gemm(d: Draw) -> Case:
    m, k, n, left, right = d.open("m", 1, 5), d.int(1, 9), d.int(1, 9), d.int(0, 1), d.int(0, 1)
    inputs: list[Data | None] = [d.normal(*((k, m) if left else (m, k))), d.normal(*((n, k) if right else (k, n)))]
    inputs += [d.normal(*d.one((n,), (1, n), (), (1,)))] if d.flip() else []
    name = d.one(*ACTIVATIONS)
    how: dict[str, Any] = {"activation": name, **{f"activation_{key}": d.one(0.3, 0.7) for key in ACTIVATIONS[name]}}
    how |= {"transA": left, "transB": right, "alpha": d.one(1.0, 0.5), "beta": d.one(1.0, 0.3)}
    return Case("FusedGemm", inputs, how)


@row("FusedConv")
def fused_conv(d: Draw) -> Case:
    groups, rank = d.int(1, 2), d.int(1, 2)
    channels, filters, kernel = groups * d.int(1, 3), groups * d.int(1, 3), [d.int(1, 3) for _ in range(rank)]
    space = [d.int(5, 9) for _ in kernel]
    inputs: list[Data | None] = [d.normal(d.open("batch", 1, 3), channels, *space)]
    inputs += [d.normal(filters, channels // groups, *kernel), d.normal(filters) if d.flip() else None]
    names = {
        "Relu": [], "Sigmoid": [], "Tanh": [], "LeakyRelu": [0.3], "HardSigmoid": [0.3, 0.4], "Clip": [-0.5, 0.7],
    }  # fmt: skip
    name = d.one(*names)
    how: dict[str, Any] = {"activation": name, "group": groups, "kernel_shape": kernel, **window(d, kernel, ceil=False)}
    return Case("FusedConv", inputs, how | ({"activation_params": names[name]} if names[name] else {}))


PACKED = {0: (1, 4, None), 1: (1, 2, None), 2: (32, 18, 0), 6: (32, 22, 0), 8: (32, 34, 0), 14: (256, 210, 208)}
PACKED |= {13: (256, 176, 0), 20: (32, 18, 0), 23: (256, 136, 0), 30: (1, 2, None)}


@row("GatherPacked")
def gather_packed(d: Draw) -> Case:
    """Random bytes, with scales (halves at an offset of each block) that are numbers."""
    kind = d.one(*PACKED)
    size, width, scale_at = PACKED[kind]
    blocks, rows = d.int(1, 3) * (9 if size == 1 else 1), d.int(1, 5)
    table = d.integers(0, 256, rows, blocks, width, kind="u1", constant=True).array
    numbers = d.normal(rows, blocks, 1, constant=True).array
    if scale_at is None:
        bits = {0: "f4", 1: "f2"}.get(kind)
        table[:] = (numbers.astype(bits) if bits else numbers).view("u1").reshape(rows, blocks, -1)[..., -width:]
    else:
        halves = numbers.astype("f2").view("u1").reshape(rows, blocks, 2)
        many = 2 if kind == 13 else 1  # a scale, and a minimum
        table[..., scale_at : scale_at + 2 * many] = np.tile(halves, many)
    n = d.open("n", 1, 4)
    indices = d.integers(-2, rows + 2, *d.one((n,), (2, n), ()), kind=d.one("i4", "i8"))
    data = d.data(table.reshape(rows, -1), (rows, blocks * width), constant=d.flip())
    how = {"K": blocks * size, "packed_type": kind, "output_dtype": d.one(1, 10)}
    return Case("GatherPacked", [data, indices], how)
