"""Merging of transpositions through reshapes: ``transpose ∘ reshape ∘ transpose``, where the reshape splits and merges
whole dimensions, becomes one transposition between two reshapes, which move nothing.

    [2,3,4,5] -T-> [2,4,5,3] -R-> [2,20,3] -T-> [2,3,20]   is   [2,3,4,5] -R-> [2,3,20]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from mlc.dialects.graph import ReshapeOp, TransposeOp, ints_of
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import Shape, shape_of
from mlc.passes.rewriter import Rewrite


@dataclass(frozen=True)
class ReshapeGroup:
    """Neighbouring dimensions of a reshape's operand (``source``) and of its result (``target``) that hold the same
    elements. Dimensions of extent 1 are in no run."""

    source: tuple[int, ...]
    target: tuple[int, ...]


def runs(source: Shape, target: Shape) -> list[ReshapeGroup]:
    """Return the finest partition of a reshape: it is cut wherever the dimensions of both sides so far have as many
    elements."""
    left = [n for n, d in enumerate(source) if d != 1]
    right = [n for n, d in enumerate(target) if d != 1]
    counts = {c: n for n, c in enumerate(_counts(source, left), 1)}
    cuts, out = (0, 0), []
    for j, count in enumerate(_counts(target, right), 1):
        if count in counts:
            i = counts[count]
            out.append(ReshapeGroup(tuple(left[cuts[0] : i]), tuple(right[cuts[1] : j])))
            cuts = (i, j)
    return out


def _counts(shape: Shape, axes: Sequence[int]) -> list[DimLike]:
    return list(accumulate((shape[a] for a in axes), lambda a, b: a * b))


def merge_transposes(first: TransposeOp, reshape: ReshapeOp, second: TransposeOp) -> Rewrite:
    """Replace the three operators by reshape, transpose, reshape; return None if a dimension is both split and
    merged."""
    middle, target = shape_of(reshape.input), shape_of(reshape.result)
    if 0 in middle:
        return None
    found = runs(middle, target)
    if any(len(r.source) > 1 and len(r.target) > 1 for r in found):
        return None
    # Atoms are the dimensions of the finest shape, named (run, index); each axis of either side is a tuple of atoms.
    before: dict[int, list[tuple[int, int]]] = {}
    after: dict[int, list[tuple[int, int]]] = {}
    extent: dict[tuple[int, int], DimLike] = {}
    for n, run in enumerate(found):
        axes, shape = (run.source, middle) if len(run.source) > 1 else (run.target, target)
        atoms = [(n, place) for place in range(len(axes))]
        extent.update(zip(atoms, (shape[a] for a in axes), strict=True))
        _spread(before, run.source, atoms)
        _spread(after, run.target, atoms)
    perm = ints_of(first.perm)
    source = [atom for axis in range(len(perm)) for atom in before.get(perm.index(axis), ())]
    result = [atom for axis in ints_of(second.perm) for atom in after.get(axis, ())]
    split = ReshapeOp(first.input, [extent[a] for a in source])
    move = TransposeOp(split.result, [source.index(a) for a in result])
    return [split, move, ReshapeOp(move.result, shape_of(second.result))]


def _spread(to: dict[int, list[tuple[int, int]]], axes: tuple[int, ...], atoms: list[tuple[int, int]]) -> None:
    """Assign all atoms to one axis, or one atom to each axis."""
    for n, axis in enumerate(axes):
        to[axis] = atoms if len(axes) == 1 else [atoms[n]]
