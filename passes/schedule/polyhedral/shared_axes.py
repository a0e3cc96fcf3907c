"""Axes of a kernel: iterators of different statements that index the same dimension of the arrays between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView

Axis = Mapping[str, str]
"""The iterator of each statement that has the axis, by the statement's name."""


def axes_of(statements: Sequence[StatementView]) -> list[Axis]:
    """Return the axes of ``statements``, in the order of their iterators. Two iterators belong to one axis if they
    index the same dimension of an array that one statement writes and another reads."""
    parts = {(s.name, i): {(s.name, i)} for s in statements for i in s.iters}
    for a, b in _linked(statements):
        if parts[a] is not parts[b]:
            parts[a] |= parts[b]
            parts |= dict.fromkeys(parts[b], parts[a])
    axes = [sorted(part) for part in {id(part): part for part in parts.values()}.values()]
    return [dict(axis) for axis in axes if len(dict(axis)) == len(axis)]


def _linked(statements: Sequence[StatementView]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    first: dict[str, tuple[StatementView, Access]] = {}
    for s in statements:
        first.setdefault(s.write.array, (s, s.write))
    for s in statements:
        for access in (a for a in (*s.reads, s.write) if a.array in first):
            writer, write = first[access.array]
            for w, r in zip(_names(write, writer), _names(access, s), strict=True):
                if w and r:
                    yield (writer.name, w), (s.name, r)


def _names(access: Access, s: StatementView) -> list[str]:
    """Return, for each index of an access, the iterator that it consists of, or "" if it is another expression."""
    return [str(i) if isinstance(i, Dim) and str(i) in s.iters else "" for i in access.index]


def extent_of(axis: Axis, statements: Sequence[StatementView]) -> DimLike | None:
    """Return the extent of an axis; None if statements have different extents."""
    extents = {s.bounds[axis[s.name]] for s in statements if s.name in axis}
    return extents.pop() if len(extents) == 1 else None
