"""Clusters: the rates of a rank, and the links between ranks, a pair of latency and time of a byte for each level."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlc.comm.link import Link
from mlc.errors import InputError
from mlc.target import CpuTarget, GpuTarget, Target

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}  # fmt: skip
MEASURED = Link(20e-6, 1 / 5e9)
"""Ranks of one machine by MPI, where nothing was measured (``mlc bench --collectives`` measures)."""


@dataclass(frozen=True)
class Level:
    """Groups of ``ranks`` neighbours whose links are alike; 0: all ranks of the job."""

    ranks: int
    link: Link


@dataclass(frozen=True)
class Cluster:
    """Machines: ``levels`` from the inner one, such as a host, to the outer one; ``flops`` and ``bandwidth``: what a
    rank computes and moves a second; ``efficiency``: the share of it that programs reach; ``memory``: bytes of a rank;
    ``overlap``: the share of the time between a collective and its first reader that hides it."""

    levels: tuple[Level, ...]
    flops: float
    bandwidth: float
    efficiency: float = 1.0
    memory: float | None = None
    overlap: float = 0.0

    def links(self, ranks: int, step: int) -> tuple[tuple[int, Link], ...]:
        """Return, from the inner level, how many of ``ranks`` ranks that are ``step`` apart each level connects.

        Raises:
            InputError: the ranks of a level do not divide a group.
        """
        found: list[tuple[int, Link]] = []
        covered = 1
        for level in self.levels:
            reach = ranks if level.ranks == 0 else min(ranks, max(level.ranks // step, 1))
            if reach % covered or ranks % reach:
                what = f"{ranks} ranks that are {step} apart do not fit hosts of {level.ranks} ranks evenly"
                raise InputError(what, hint="Choose a mesh whose axes the hosts divide, or another order of its axes")
            if reach > covered:
                found.append((reach // covered, level.link))
                covered = reach
        if covered < ranks:
            found.append((ranks // covered, self.levels[-1].link))
        return tuple(found)


def default(target: Target) -> Cluster:
    """Return ranks with the rates of a target, linked as MPI links processes of one machine."""
    if isinstance(target, CpuTarget):
        return Cluster((Level(0, MEASURED),), target.flops, target.rates.memory_bytes)
    assert isinstance(target, GpuTarget)
    return Cluster((Level(0, MEASURED),), target.flops, target.memory_bytes)


def read(path: str | Path, target: Target | None = None) -> Cluster:
    """Read a cluster file (TOML), or what ``mlc bench --collectives --json`` prints.

        [rank]                  # each is optional, and else the target's
        flops = 312e12
        bandwidth = 2e12
        memory = "80GiB"
        [[level]]               # hosts of 8 ranks
        ranks = 8
        alpha = 5e-6            # seconds of a stage
        beta = 4e-12            # seconds of a byte
        [[level]]               # between hosts
        alpha = 10e-6
        beta = 4e-11

    Raises:
        InputError: the file does not exist or is no such file; names the key.
    """
    from mlc.target import DEFAULT

    try:
        text = Path(path).read_text()
        found = json.loads(text) if Path(path).suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(f"The cluster file '{path}' cannot be read: {error}", hint="Give a file in TOML") from None
    if "alpha" in found:
        found = {"level": [{"alpha": found["alpha"], "beta": found["beta"]}]}
    return _cluster(found, default(target or DEFAULT), str(path))


def _cluster(found: Mapping[str, Any], base: Cluster, path: str) -> Cluster:
    known = {"flops", "bandwidth", "efficiency", "memory", "overlap"}
    rank, levels = found.get("rank", {}), found.get("level", [])
    unknown = [*(set(found) - {"rank", "level"}), *(set(rank) - known)]
    for n, each in enumerate(levels):
        unknown += sorted(set(each) ^ {"alpha", "beta"} - set(each)) if {"alpha", "beta"} - set(each) else []
        unknown += [f"level {n}: {key}" for key in set(each) - {"alpha", "beta", "ranks"}]
    if unknown:
        what = f"The cluster file '{path}' has no use for, or lacks, {', '.join(sorted(map(str, unknown)))}"
        raise InputError(what, hint="Give [rank] flops, bandwidth, efficiency, memory, overlap, and "
                                    "[[level]] ranks, alpha, beta")  # fmt: skip
    made = tuple(Level(int(each.get("ranks", 0)), Link(float(each["alpha"]), float(each["beta"]))) for each in levels)
    memory = bytes_of_text(str(rank["memory"])) if "memory" in rank else None
    return Cluster(made or base.levels, float(rank.get("flops", base.flops)),
                   float(rank.get("bandwidth", base.bandwidth)), float(rank.get("efficiency", base.efficiency)),
                   memory, float(rank.get("overlap", base.overlap)))  # fmt: skip


def bytes_of_text(text: str) -> float:
    """Return the bytes that ``16GiB`` says.

    Raises:
        InputError: no number, or another unit.
    """
    number = text.rstrip("BKMGTi ")
    unit = text[len(number) :].strip()
    try:
        return float(number) * UNITS[unit]
    except (ValueError, KeyError):
        raise InputError(f"'{text}' is no size of memory", hint="Write it as 16GiB, 500MB or 1e9") from None
