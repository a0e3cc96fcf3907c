"""Contractions and convolutions as ``dot_general`` and ``convolution``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects import graph
from mlc.dialects.graph.base import ints_of
from mlc.export.stablehlo.statements import broadcast, reduction, transposed
from mlc.export.stablehlo.writer import Value, Writer, ints, type_of

EXACT = "[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"


def contract(w: Writer, op: graph.ContractOp, x: Value, y: Value) -> Value | None:
    """A ``dot_general``; None where a term repeats a letter, or of predicates."""
    left, right, out = op.terms
    if x.element == "i1" or any(len(set(term)) != len(term) for term in op.terms):
        return None
    extents = {c: int(d) for c, d in op.extents().items()}  # type: ignore[arg-type]
    left, x = _summed(w, *_stretched(w, left, right, x, extents), right, out)
    right, y = _summed(w, *_stretched(w, right, left, y, extents), left, out)
    both = [c for c in left if c in right]
    batch, summed = [c for c in both if c in out], [c for c in both if c not in out]
    found = [*batch, *(c for c in left if c not in both), *(c for c in right if c not in both)]
    numbers = ", ".join((
        f"lhs_batching_dimensions = {[left.index(c) for c in batch]}",
        f"rhs_batching_dimensions = {[right.index(c) for c in batch]}",
        f"lhs_contracting_dimensions = {[left.index(c) for c in summed]}",
        f"rhs_contracting_dimensions = {[right.index(c) for c in summed]}",
    ))  # fmt: skip
    sizes_of = {**dict(zip(left, x.shape, strict=True)), **dict(zip(right, y.shape, strict=True))}
    made = w.emit("dot_general", [x, y], x.element, tuple(sizes_of[c] for c in found),
                  dot_dimension_numbers=f"#stablehlo.dot<{numbers}>", precision_config=EXACT)  # fmt: skip
    return transposed(w, made, [found.index(c) for c in out])


def _stretched(w: Writer, term: str, other: str, x: Value, extents: dict[str, int]) -> tuple[str, Value]:
    """An operand with the extents of the letters in place of 1."""
    return term, broadcast(w, x, tuple(extents[c] for c in term), range(len(term)))


def _summed(w: Writer, term: str, x: Value, other: str, out: str) -> tuple[str, Value]:
    """An operand without the letters that nothing else has."""
    alone = [n for n, c in enumerate(term) if c not in other and c not in out]
    return "".join(c for n, c in enumerate(term) if n not in alone), reduction(w, "add", x, alone)


def convolution(w: Writer, op: graph.ConvOp, x: Value, kernel: Value) -> Value:
    strides, dilations = op.window
    return _convolved(w, x, kernel, type_of(op.result), strides, dilations, groups=int(op.groups.value.data))


def _convolved(
    w: Writer, x: Value, kernel: Value, result: tuple[str, tuple[int, ...]], strides: Sequence[int],
    dilations: Sequence[int], *, groups: int = 1, spread: Sequence[int] = (), padding: Sequence[Sequence[int]] = (),
) -> Value:  # fmt: skip
    rank = len(strides)
    axes = ", ".join(map(str, range(rank)))
    numbers = f"#stablehlo.conv<[b, f, {axes}]x[o, i, {axes}]->[b, f, {axes}]>"
    options: dict[str, Any] = {"lhs_dilation": ints(spread)} if spread else {}
    edges = f"dense<{[list(p) for p in padding]}>" if padding else "dense<0>"
    return w.emit(
        "convolution", [x, kernel], *result, batch_group_count="1 : i64", dimension_numbers=numbers,
        feature_group_count=f"{groups} : i64", padding=f"{edges} : tensor<{rank}x2xi64>", precision_config=EXACT,
        rhs_dilation=ints(dilations), window_strides=ints(strides), **options,
    )  # fmt: skip


def transposed_convolution(w: Writer, op: graph.ConvTransposeOp, args: Sequence[Value]) -> Value:
    """A convolution of the operand with zeros between its rows: in it, phase ``p`` of the weight is every ``s``-th
    tap."""
    x, kernel = args
    strides, low, element, shape = ints_of(op.strides), ints_of(op.low), *type_of(op.result)
    rank, taps = len(strides), kernel.shape[len(strides) + 2 :]
    phases = list(range(rank))
    for n, (s, cut) in enumerate(zip(strides, low, strict=True)):
        kernel = _rolled(w, kernel, n, (-cut) % s)
        kernel = w.emit("reverse", [kernel], kernel.element, kernel.shape, dimensions=ints([n]))
    order = [rank, rank + 1, *(a for n in phases for a in (rank + 2 + n, n))]
    kernel = transposed(w, kernel, order)
    long = [s * t for s, t in zip(strides, taps, strict=True)]
    kernel = w.emit("reshape", [kernel], kernel.element, (*kernel.shape[:2], *long))
    padding = []
    for n, (s, cut, length) in enumerate(zip(strides, low, long, strict=True)):
        before = s - 1 - cut
        spread = s * (x.shape[2 + n] - 1) + 1
        padding.append([before, shape[2 + n] + length - 1 - spread - before])
    return _convolved(w, x, kernel, (element, shape), [1] * rank, [1] * rank, spread=strides, padding=padding)


def _rolled(w: Writer, x: Value, axis: int, by: int) -> Value:
    """Elements ``by`` and on first, then those before."""
    if not by:
        return x
    parts = []
    for first, end in ((by, x.shape[axis]), (0, by)):
        starts = [first if n == axis else 0 for n in range(len(x.shape))]
        ends = [end if n == axis else d for n, d in enumerate(x.shape)]
        shape = tuple(b - a for a, b in zip(starts, ends, strict=True))
        ones = ints([1] * len(shape))
        parts.append(w.emit("slice", [x], x.element, shape, start_indices=ints(starts), limit_indices=ints(ends),
                            strides=ones))  # fmt: skip
    return w.emit("concatenate", parts, x.element, x.shape, dimension=f"{axis} : i64")
