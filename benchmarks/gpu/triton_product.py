"""Triton's kernel of a product of halves, the one of its tutorial, compiled for an architecture without a GPU."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

STRIDES = ("am", "ak", "bk", "bn", "cm", "cn")


@triton.jit  # type: ignore[untyped-decorator]
def product(  # type: ignore[no-untyped-def]
    a, b, c, m, n, k, am, ak, bk, bn, cm, cn,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEPS: tl.constexpr,
):  # fmt: skip
    """c = a b, of m × k and k × n halves: a program has a tile of ROWS × COLUMNS."""
    across = tl.cdiv(n, COLUMNS)
    rows = (tl.program_id(0) // across * ROWS + tl.arange(0, ROWS)) % m
    columns = (tl.program_id(0) % across * COLUMNS + tl.arange(0, COLUMNS)) % n
    steps = tl.arange(0, STEPS)
    left, right = a + rows[:, None] * am + steps[None, :] * ak, b + steps[:, None] * bk + columns[None, :] * bn
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for step in range(tl.cdiv(k, STEPS)):
        x = tl.load(left, mask=steps[None, :] < k - step * STEPS, other=0.0)
        y = tl.load(right, mask=steps[:, None] < k - step * STEPS, other=0.0)
        total = tl.dot(x, y, total)
        left += STEPS * ak
        right += STEPS * bk
    rows = tl.program_id(0) // across * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(0) % across * COLUMNS + tl.arange(0, COLUMNS)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * cm + columns[None, :] * cn, total.to(tl.float16), mask=inside)


def cubin(tile: tuple[int, int, int], warps: int, stages: int, capability: int) -> bytes:
    """The cubin for tiles of (rows, columns, steps). Sizes and strides but those of neighbours are multiples of 16."""
    names = dict.fromkeys(("m", "n", "k", *STRIDES), "i32")
    signature = {**dict.fromkeys(("a", "b", "c"), "*fp16"), **names}
    sizes = dict(zip(("ROWS", "COLUMNS", "STEPS"), tile, strict=True))
    constants: dict[str, Any] = {**sizes, "ak": 1, "bn": 1, "cn": 1}
    signature |= dict.fromkeys(constants, "constexpr")
    aligned = {(n,): [["tt.divisibility", 16]] for n, name in enumerate(signature) if name not in constants}
    source = ASTSource(product, signature, constants, aligned)
    options = {"num_warps": warps, "num_stages": stages}
    made = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    return bytes(made.asm["cubin"])
