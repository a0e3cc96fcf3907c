"""Cases of normalizations, rotations and gates."""

from __future__ import annotations

from contrib import Case, Draw, row


@row("SkipLayerNormalization")
def skip_layer(d: Draw) -> Case:
    batch, rows, size = d.open("batch", 1, 3, 0.1), d.open("rows", 1, 5), d.int(1, 20)
    kind = d.one("f4", "f4", "f2")
    shape = (batch, rows, size) if d.flip(0.7) else (rows, size)
    skip = shape if d.flip(0.6) else (rows, size) if d.flip() else (1, rows, size)
    inputs = [d.normal(*shape, kind=kind), d.normal(*(skip if len(shape) == 3 else shape), kind=kind)]
    inputs.append(d.normal(size, kind=kind, constant=d.flip()))
    inputs += [d.normal(size, kind=kind) if d.flip() else None for _ in "bb"]
    outputs = [True, False, False, d.flip()]
    return Case("SkipLayerNormalization", inputs, {"epsilon": d.one(1e-5, 0.1)} if d.flip() else {}, outputs)
