"""Interrupts `mlc compile` at random moments, once or twice: `python test/fuzz/interrupt_compiling.py --count 300`.

Each compilation starts with an empty cache. It must end soon, with status 130 (0 where it was done before; -2, of the
signal itself, in the first fifth of the time, where Python is starting), with nothing on stderr, no temporary file and
no half-written library. C is not optimized, so that all steps are met about as often.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def model() -> onnx.ModelProto:
    """Products, a softmax, a normalization and a concatenation of x[n, 16]."""
    draw = np.random.default_rng(0)
    weights = [numpy_helper.from_array(draw.standard_normal((16, 16)).astype(np.float32), f"w{n}") for n in range(3)]
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["a"]),
        helper.make_node("Softmax", ["a"], ["b"], axis=-1),
        helper.make_node("MatMul", ["b", "w1"], ["c"]),
        helper.make_node("Gelu", ["c"], ["d"]),
        helper.make_node("Concat", ["d", "x"], ["e"], axis=1),
        helper.make_node("ReduceMean", ["e"], ["f"], keepdims=1),
        helper.make_node("Sub", ["e", "f"], ["g"]),
        helper.make_node("Transpose", ["g"], ["h"], perm=[1, 0]),
        helper.make_node("MatMul", ["h", "g"], ["y"]),
    ]
    value = helper.make_tensor_value_info
    outputs = [value("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, ["n", 16])], outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def surroundings(place: Path) -> dict[str, str]:
    """An empty cache, a folder for temporary files of the run's own, and tracebacks where a signal ends it."""
    return {**os.environ, "MLC_CACHE_DIR": str(place / "cache"), "TMPDIR": str(place / "tmp"), "MLC_CFLAGS": "-O0",
            "PYTHONFAULTHANDLER": "1"}  # fmt: skip


def interrupted(file: Path, place: Path, delays: list[float]) -> tuple[str, float]:
    """What went wrong in a compilation that is interrupted after these seconds, or how it ended; seconds to the end."""
    (place / "tmp").mkdir(parents=True)
    command = [sys.executable, "-m", "mlc", "-q", "compile", str(file), "-o", str(place / "net.so")]
    run = subprocess.Popen(command, env=surroundings(place), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for delay in delays:
        time.sleep(delay)
        run.send_signal(signal.SIGINT)
    start = time.monotonic()
    try:
        said = run.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        run.kill()
        return "does not end", 60.0
    seconds = time.monotonic() - start
    if run.returncode not in (0, 130) or said.strip():
        return f"status {run.returncode}: {said[-1500:]}", seconds
    left = [path.name for path in [*(place / "tmp").iterdir(), *place.glob(".mlc-*")]]
    if left or (run.returncode == 130 and any(place.glob("net.*"))):
        return f"left {left} {[path.name for path in place.glob('net.*')]}", seconds
    return f"status {run.returncode}", seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=float, default=0.3, help="seconds before which Python itself may be starting")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw, ended, slowest = random.Random(given.seed), Counter[str](), 0.0
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "net.onnx"
        onnx.save(model(), file)
        start = time.monotonic()
        print(interrupted(file, Path(name) / "whole", [])[0], flush=True)
        whole = time.monotonic() - start
        for n in range(given.count):
            delays = [draw.uniform(given.first, whole)] + [draw.uniform(0, 0.4)] * draw.randrange(2)
            how, seconds = interrupted(file, Path(name) / str(n), delays)
            ended[how.partition(":")[0]] += 1
            slowest = max(slowest, seconds)
            is_starting = how == "status -2: " and delays[0] < whole / 5
            if how not in ("status 0", "status 130") and not is_starting:
                print(f"after {' and '.join(f'{d:.2f}' for d in delays)} s: {how}", flush=True)
    print(f"{given.count} interrupts within {whole:.1f} s: {dict(ended)}; the slowest ended after {slowest:.1f} s")


if __name__ == "__main__":
    main()
