"""Cases of activations, and of a product under its older name."""

from __future__ import annotations

from contrib import Case, Data, Draw, row
from contrib_rows_products import fused_matmul


def _activation(d: Draw, op: str, biased: bool) -> Case:
    shape = (d.open("batch", 1, 3), d.open("rows", 1, 5), d.int(1, 40))
    inputs: list[Data | None] = [d.normal(*shape, scale=3), d.normal(shape[-1]) if biased else None]
    return Case(op, inputs)


@row("Gelu")
def gelu(d: Draw) -> Case:
    return _activation(d, "Gelu", False)


@row("FastGelu")
def fast_gelu(d: Draw) -> Case:
    return _activation(d, "FastGelu", d.flip())


@row("BiasGelu")
def bias_gelu(d: Draw) -> Case:
    return _activation(d, "BiasGelu", True)


@row("QuickGelu")
def quick_gelu(d: Draw) -> Case:
    x = d.normal(d.open("n", 1, 5), d.int(1, 40), scale=3)
    return Case("QuickGelu", [x], {"alpha": d.one(1.0, 0.3, -2.0)} if d.flip() else {})


@row("TransposeMatMul")
def transpose_matmul(d: Draw) -> Case:
    case = fused_matmul(d)
    how = {k: v for k, v in case.attributes.items() if "Batch" not in k}
    if len(how) < len(case.attributes):
        k, m, n = d.int(1, 5), d.int(1, 5), d.open("n", 1, 4)
        return Case("TransposeMatMul", [d.normal(n, k), d.normal(k, m)], {})
    return Case("TransposeMatMul", case.inputs, how)


@row("SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(d: Draw) -> Case:
    batch, rows, size, kind = d.open("batch", 1, 3), d.open("rows", 1, 5), d.int(1, 20), d.one("f4", "f4", "f2")
    skip = d.one((batch, rows, size), (rows, size), (1, rows, size))
    inputs: list[Data | None] = [d.normal(batch, rows, size, kind=kind), d.normal(*skip, kind=kind)]
    inputs += [d.normal(size, kind=kind), d.normal(size, kind=kind) if d.flip() else None]
    outputs = [True, False, False, d.flip()]
    how = {"epsilon": d.one(1e-5, 0.1)} if d.flip() else {}
    return Case("SkipSimplifiedLayerNormalization", inputs, how, outputs)
