"""The axes of a mesh on a cluster, and the changes of state along them: bytes that a rank sends, and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlc.dialects.dist import MeshAttr, SplitAttr
from mlc.passes.distribute.rules.cost import halo
from mlc.planning.cluster import Cluster
from mlc.planning.codes import ALL, SUM, WINDOWS, Joint, window_of
from mlc.planning.collectives import Links, seconds, sent
from mlc.planning.solving.problem import FORBIDDEN, Matrix

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """An axis of the mesh: its ranks, and the levels of links that it crosses."""

    name: str
    ranks: int
    links: Links


def axes_of(mesh: MeshAttr, cluster: Cluster) -> tuple[Axis, ...]:
    """Return the axes of a mesh, the last of which is of neighbours."""
    groups = {name: mesh.group(name) for name in mesh.axes}
    return tuple(Axis(name, size, cluster.links(size, groups[name].stride)) for name, size in mesh.axes.items())


@dataclass(frozen=True)
class Change:
    """By which collective a tensor changes, of ``share`` of its bytes; None: nothing is sent, "": it cannot."""

    kind: str | None
    share: float = 1.0


def change(source: int, target: int, ranks: int, shape: Sequence[int]) -> Change:
    """Return how ranks along one axis bring a tensor from a state to another (``passes/distribute/lowering``)."""
    if source in (target, ALL) or ranks == 1:
        return Change(None)
    if source >= WINDOWS:
        return Change("")
    if source <= SUM:
        if target <= SUM:
            return Change("")
        return Change("reduce_scatter" if 0 <= target < WINDOWS else "all_reduce")
    if 0 <= target < WINDOWS:
        return Change("all_to_all")
    window = window_of(target)
    if window is not None and window.dim == source:
        low, high = halo(window, SplitAttr.of(source), shape[source], ranks)
        if max(low, high) <= shape[source] // ranks:
            return Change("permute", (low + high) / shape[source])
    return Change("all_gather")


@dataclass(frozen=True)
class Moves:
    """For each source (row) and target (column): seconds and bytes that a rank sends."""

    seconds: Matrix
    bytes: Matrix


def moves(
    axes: Sequence[Axis], shape: Sequence[int], size: int, sources: Sequence[Joint], targets: Sequence[Joint]
) -> Moves:
    """Return what changes of joint states cost, an axis after another as the partitioner works.

    A dimension that a later axis divides too is first gathered along that one: its blocks are within those of the
    earlier axis.
    """
    source, target = np.array(sources, np.int64), np.array(targets, np.int64)
    grid = len(sources), len(targets)
    now = [np.broadcast_to(source[:, k, None], grid) for k in range(len(axes))]
    found = Moves(np.zeros(grid), np.zeros(grid))
    for k in range(len(axes)):
        wanted = np.broadcast_to(target[None, :, k], grid)
        for later in range(k + 1, len(axes)):
            touched = (now[k] != wanted) & (now[later] >= 0) & ((now[later] == now[k]) | (now[later] == wanted))
            if touched.any():
                gathered = np.where(touched, ALL, now[later])
                _add(found, axes, later, shape, size, now, gathered)
                now[later] = gathered
        _add(found, axes, k, shape, size, now, wanted)
        now[k] = wanted
    return Moves(np.minimum(found.seconds, FORBIDDEN), found.bytes)


def _add(
    found: Moves, axes: Sequence[Axis], k: int, shape: Sequence[int], size: int, now: list[Codes], wanted: Codes
) -> None:
    """Add what axis k costs, where the other axes divide the tensor as they do now."""
    local = np.full(wanted.shape, float(size))
    for other, axis in enumerate(axes):
        if other != k:
            local = np.where((now[other] >= 0) & (now[other] < WINDOWS), local / axis.ranks, local)
    for a in np.unique(now[k]):
        for b in np.unique(wanted[now[k] == a]):
            each = change(int(a), int(b), axes[k].ranks, shape)
            if each.kind is None:
                continue
            at = (now[k] == a) & (wanted == b)
            if not each.kind:
                found.seconds[at] += FORBIDDEN
                continue
            found.bytes[at] += sent(each.kind, each.share, axes[k].ranks) * local[at]
            alpha = seconds(each.kind, 0.0, axes[k].links)
            found.seconds[at] += alpha + (seconds(each.kind, each.share, axes[k].links) - alpha) * local[at]
