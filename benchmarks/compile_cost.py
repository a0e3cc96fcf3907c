"""Compile one model in this process and print its cost: `python -m benchmarks.compile_cost JOB` (JSON in and out)."""

from __future__ import annotations

import contextlib
import json
import pkgutil
import sys
import time
from importlib import import_module
from typing import Any

import mlc
from benchmarks.memory import peak_bytes
from mlc.runtime.exprs import evaluate


def import_all() -> None:
    """Import every module of mlc, so that the time of a compilation has no imports in it."""
    for name in ("mlc", "mlc.dialects", "mlc.passes", "mlc.frontends"):  # folders of an editable mlc
        for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # of optional packages
                    import_module(module.name)


def cost(job: dict[str, Any]) -> dict[str, float]:
    """Seconds and peak bytes of compiling `onnx` to `file`, and the arena with its lower bound at `dims`."""
    import_all()
    start = time.perf_counter()
    net = mlc.compile(job["onnx"], job["target"], job["threads"])
    seconds = time.perf_counter() - start
    peak = peak_bytes()
    net.save(job["file"])
    arena, bound = (evaluate(net.signature[key], job["dims"]) for key in ("arena", "arena_bound"))
    return {"seconds": seconds, "peak": peak, "arena": arena, "bound": bound}


if __name__ == "__main__":
    print(json.dumps(cost(json.loads(sys.argv[1]))))
