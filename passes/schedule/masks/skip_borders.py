"""Skipping of borders (``skip-borders``): terms of a convolution that read a border of zeros become conditions of its
domain.

    a[c, y] = x[c, y - 12] where 12 <= y < 28, otherwise 0      S0[f, y, c, k]: t0[f, y] += a[c, y + 12·k] · w[f, c, k]
      →
    S0[f, y, c, k], y + 12·k - 12 >= 0, 27 - y - 12·k >= 0

A dilated window reaches far into the border: with a dilation of 12, an image of 16 × 16 pixels and 3 × 3 taps, 3/4 of
all terms are 0. The loops over taps then run over those that some row of a tile needs. Adding 0 changes no sum, so
results have the same bits; ``numerics = strict`` changes nothing, because infinite weights make these terms NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import OpResult
from xdsl.passes import ModulePass

from mlc.dialects import kernel
from mlc.dialects.graph.base import dims_attr
from mlc.dialects.poly import YieldOp
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate
from mlc.passes.constant_bands import calls_of
from mlc.passes.context import cpu_facts, machine_of
from mlc.passes.schedule.polyhedral.masks import has_rows
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView, statements_of
from mlc.target import CpuTarget

Inside = tuple[tuple[int, int], ...]
"""The first and the last element of each dimension that may not be 0."""

SHARE = 3 / 4  # of the terms at most are left: loops over some of the taps are not unrolled


@dataclass(frozen=True)
class SkipBorders(ModulePass):
    name = "skip-borders"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.numerics == "strict":
            return
        kernels = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        called = calls_of(op)
        for name, fn in kernels.items():
            products = [s for s in statements_of(fn) if _is_product(s)]
            if len(products) == 1:
                _skip(fn, products[0], called.get(name, []), kernels, cpu_facts(machine_of(ctx)))


def _is_product(s: StatementView) -> bool:
    """Return whether a statement is a sum of products with constant extents."""
    names = [o.name for o in s.op.body.block.ops]
    constant = all(isinstance(n, int) for n in (*s.bounds.values(), *(n for r in s.reads for n in r.shape)))
    is_sum = s.op.monoid is not None and s.op.monoid.data == "add"
    return is_sum and constant and names == ["arith.mulf", "poly.yield"] and len(s.reads) == 2 and not s.conditions


def _skip(
    fn: kernel.FuncOp,
    s: StatementView,
    calls: Sequence[kernel.CallOp],
    kernels: Mapping[str, kernel.FuncOp],
    target: CpuTarget,
) -> None:
    """Give a sum of products the conditions that its taps are inside of the image, if these leave few terms."""
    args = {f"b{n}": n for n in range(len(fn.block.args))}
    for read in s.reads:
        inside = _inside(args.get(read.array), calls, kernels) if any(_taps(i, s) for i in read.index) else None
        if inside is None:
            continue
        ends = [(0, n - 1) for n in read.shape if isinstance(n, int)]
        windows = [n for n, i in enumerate(read.index) if _taps(i, s) and inside[n] != ends[n]]
        taps = {name for n in windows for name in _names(read.index[n])}
        share = math.prod(_share(read, n, inside[n], s, target) for n in windows)
        found = [c for n in windows for c in _conditions(read.index[n], inside[n], ends[n])]
        if share <= SHARE and set(s.reduced) - taps and has_rows(s, tuple(found)):
            s.op.properties["conditions"] = dims_attr(found)
            if isinstance(fn.work.flops, int):
                fn.work = replace(fn.work, flops=round(fn.work.flops * share))
            return


def _conditions(index: DimLike, inside: tuple[int, int], ends: tuple[int, int]) -> list[DimLike]:
    """Return the conditions that an index is inside, without those that always hold."""
    low = [index - inside[0]] if inside[0] > ends[0] else []
    return [*low, *([inside[1] - index] if inside[1] < ends[1] else [])]


def _names(index: DimLike) -> set[str]:
    return index.symbols() if isinstance(index, Dim) else set()


def _taps(index: DimLike, s: StatementView) -> bool:
    """Return whether an index is that of a window: a row and a tap, which is reduced, both with positive factors."""
    terms = index.terms if isinstance(index, Dim) else ()
    names = [m[0] for m, _ in terms if len(m) == 1]
    linear = all(len(m) <= 1 and all(isinstance(a, str) for a in m) and (c > 0 or not m) for m, c in terms)
    return linear and len(names) == 2 and len([n for n in names if n in s.reduced]) == 1


def _step(read: Access, dimension: int, s: StatementView, target: CpuTarget) -> int:
    """Return the rows of a register tile along a dimension: those of two vectors along the last one that slides."""
    later = any(_taps(i, s) for i in read.index[dimension + 1 :])
    return 1 if later else next(rows for rows in range(target.vector_registers, 0, -1) if target.fits(rows, 2))


def _share(read: Access, dimension: int, inside: tuple[int, int], s: StatementView, target: CpuTarget) -> float:
    """Return the share of pairs of a register tile and a tap that read elements inside along a dimension."""
    index, step = read.index[dimension], _step(read, dimension, s, target)
    assert isinstance(index, Dim)
    (along,) = [i for i in index.symbols() if i not in s.reduced]
    (over,) = [i for i in index.symbols() if i in s.reduced]
    points, taps = s.bounds[along], s.bounds[over]
    assert isinstance(points, int) and isinstance(taps, int)
    used = 0
    for first in range(0, points, step):
        last = min(first + step, points) - 1
        ends = [tuple(evaluate(index, {along: at, over: tap}) for at in (first, last)) for tap in range(taps)]
        used += (last - first + 1) * sum(b >= inside[0] and a <= inside[1] for a, b in ends)  # type: ignore[operator]
    return used / (points * taps)


def _inside(arg: int | None, calls: Sequence[kernel.CallOp], kernels: Mapping[str, kernel.FuncOp]) -> Inside | None:
    """Return the part of an argument that may not be 0 in some call; None if it is not known."""
    found: list[Inside] = []
    for call in calls:
        value = call.args[arg] if arg is not None and arg < len(call.args) else None
        maker = value.owner if isinstance(value, OpResult) else None
        if not isinstance(value, OpResult) or not isinstance(maker, kernel.CallOp):
            return None
        part = _written(kernels[maker.callee.root_reference.data], f"b{len(maker.args) + value.index}")
        if part is None:
            return None
        found.append(part)
    boxes = [[dims[n] for dims in found] for n in range(len(found[0]))] if found else []
    return tuple((min(a for a, _ in box), max(b for _, b in box)) for box in boxes) or None


def _written(fn: kernel.FuncOp, array: str) -> Inside | None:
    """Return the smallest box around what the statements of a kernel that write no constant 0 write to ``array``."""
    writers = [s for s in statements_of(fn) if s.write.array == array]
    ranges = [[_range(i, s) for i in s.write.index] for s in writers if not _writes_zero(s)]
    if not ranges or len(ranges) == len(writers):
        return None
    box: list[tuple[int, int]] = []
    for dimension in zip(*ranges, strict=True):
        if any(r is None for r in dimension):
            return None
        known = [r for r in dimension if r is not None]
        box.append((min(a for a, _ in known), max(b for _, b in known)))
    return tuple(box)


def _writes_zero(s: StatementView) -> bool:
    ops = [*s.op.body.block.ops]
    first, last = ops[0], ops[-1]
    is_zero = isinstance(first, arith.ConstantOp) and isinstance(first.value, FloatAttr) and first.value.value.data == 0
    return len(ops) == 2 and is_zero and isinstance(last, YieldOp) and s.op.monoid is None


def _range(index: DimLike, s: StatementView) -> tuple[int, int] | None:
    """Return the first and the last value of an affine index; None if it is not known."""
    terms = index.terms if isinstance(index, Dim) else (((), index),)
    low = high = 0
    for monomial, factor in terms:
        extent = s.bounds.get(monomial[0]) if len(monomial) == 1 and isinstance(monomial[0], str) else 1
        if len(monomial) > 1 or not isinstance(extent, int):
            return None
        reach = factor * (extent - 1) if monomial else 0
        constant = 0 if monomial else factor
        low, high = low + min(reach, 0) + constant, high + max(reach, 0) + constant
    return low, high
