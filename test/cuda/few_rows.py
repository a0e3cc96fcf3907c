"""``python test/cuda/few_rows.py DRIVER WHAT FILE``: ``python -m benchmarks.gpu`` with a few cheap rows, emulated.

A program of its own, as processes of rows are forked before the driver is started. ``DRIVER`` is the folder of the
driver of the tests; of the smoke rows the second is said to be wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_gpu

sys.path.insert(0, str(Path(__file__).parents[2]))  # for the benchmarks

ROWS = ("open dimension", "state")


def main(driver: str, what: str, output: str) -> None:
    from benchmarks.gpu import __main__ as command
    from benchmarks.gpu import calibration, sections

    every = sections.smoke.measured

    def measured(device: Any, target: str) -> Iterator[tuple[str, Any]]:
        for name, measure in every(device, target):
            if name in ROWS:
                yield name, lambda measure=measure, name=name: {**measure(), "right": name == ROWS[0]}

    fake_gpu.Gpu(Path(driver) / "libcuda.so.1", Path(driver) / "emulation.o")
    sections.smoke.measured = measured
    calibration.SIZES, calibration.TILES, calibration.NUMBERS = [(32, 32, 128)], 1, 1
    command.advance.compile_all = lambda *_: {}
    command.examined = lambda name, target, hung: {"first wrong": f"{name} {target} {hung}"}
    command.LIMITS, command.MOST, command.SECONDS = {"First kernel": 60.0, "Smoke": 60.0}, {}, 60.0
    kind = {each: each == what for each in ("smoke", "calibrate", "quick")}
    command.main(Path(output), None, 1.5, 3, **kind, only=None, compile=False, share=None)


if __name__ == "__main__":
    main(*sys.argv[1:])
