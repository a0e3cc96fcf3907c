"""Whole outputs of runs on the device beside what is wanted: the largest difference, and where it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu.advance import Given, Taken
from benchmarks.gpu.device import DeviceArray
from benchmarks.gpu.measurements import outputs_on
from mlc.tools.cuda_device import Device

Row = dict[str, Any]
Array = np.ndarray[Any, Any]
ERROR = {"float16": 1e-3, "float32": 1e-5, "bfloat16": 5e-3}
"""Of the largest value, by the type of results: half an ulp of it, and sums in f32."""


def compared(
    device: Device, net: Any, inputs: dict[str, Array], wanted: dict[str, Array], error: float | None = None
) -> Row:
    """Two runs on the device, the second one of arrays at other addresses; all outputs beside what is wanted."""
    if isinstance(net, Given):
        raise Taken(net, inputs)
    found = []
    for _ in range(2):
        given, out = {name: DeviceArray(device, x) for name, x in inputs.items()}, outputs_on(device, net, inputs)
        net.run_device(given, out)
        found.append(({name: each.numpy() for name, each in out.items()}, given))
    return judged_whole([outputs for outputs, _ in found], wanted, error)


def judged_whole(runs: list[dict[str, Array]], wanted: dict[str, Array], error: float | None = None) -> Row:
    """The largest difference as a part of the largest value; where it is, for the first output that is wrong."""
    worst: Row = {"error": 0.0, "right": True}
    for n, outputs in enumerate(runs):
        for name, theirs in wanted.items():
            ours = outputs[name].astype(np.float64)
            if ours.shape != theirs.shape:
                return {"error": None, "right": False, "wrong": f"run {n + 1}, {name}: the shape {ours.shape}"}
            limit = error or ERROR[str(outputs[name].dtype)]
            worst = max(worst, _judged(ours, theirs, limit, f"run {n + 1}, {name}"), key=_badness)
    return worst


def _badness(row: Row) -> tuple[bool, float]:
    return not row["right"], row["error"] if np.isfinite(row["error"]) else np.inf


def _judged(ours: Array, theirs: Array, limit: float, where: str) -> Row:
    off = np.abs(ours - theirs)
    off = np.where(np.isnan(off), np.inf, off)  # a NaN is wrong
    largest = max(float(np.abs(theirs).max(initial=0)), 1e-30)
    row: Row = {"error": float(off.max(initial=0)) / largest}
    row["right"] = row["error"] < limit
    if not row["right"]:
        bad = np.argwhere(off >= limit * largest)
        row["wrong"] = f"{where}: {len(bad)} of {off.size} elements, from {tuple(map(int, bad[0]))} " \
                       f"to {tuple(map(int, bad[-1]))}"  # fmt: skip
    return row
