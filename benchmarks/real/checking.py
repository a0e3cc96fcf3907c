"""Compile one model in this process and compare it with onnxruntime: ``python -m benchmarks.real.checking JOB``.

JOB is JSON with the model's name, its file and a folder; the answer is JSON on the last line of the output. A process
of its own, so that the time is a compilation's, and one that crashes or hangs is a row of the table.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import mlc
from benchmarks.compile_cost import import_all
from benchmarks.engines import onnxruntime
from benchmarks.real.inputs import inputs
from benchmarks.real.table import Real, models

THREADS = 2
LONGEST = 600  # characters of a message
SEED = 33


def check(model: Real, file: Path, folder: Path) -> dict[str, Any]:
    """Compile a file and compare each output at each of the model's sizes.

    The result has `status`, "right", "wrong", "refused" or "failed" (at run time), `seconds` of the CPU to compile,
    `kernels`, and `errors`, what is beyond the tolerance or the message. `unsteady` are outputs beyond the tolerance,
    but as near to onnxruntime's as its own are without its optimizations.
    """
    import_all()
    nodes = count_nodes(onnx.load(file, load_external_data=False).graph)
    start, clock = _cpu_seconds(), time.perf_counter()
    try:
        net = mlc.compile(file, "cpu", THREADS)
    except mlc.MlcError as error:
        return {"status": "refused", "nodes": nodes, "errors": [_short(error)]}
    cost = {"seconds": _cpu_seconds() - start, "elapsed": time.perf_counter() - clock, "nodes": nodes}
    cost["kernels"] = len(net.signature["kernels"])
    net.save(folder / f"{model.name}.so")
    with net:
        try:
            worst, errors, unsteady = _differences(model, file, net.run)
        except mlc.MlcError as error:
            return {**cost, "status": "failed", "errors": [_short(error)]}
    found = {**cost, "status": "wrong" if errors else "right", "worst": worst, "errors": errors}
    return found | {"unsteady": unsteady} if unsteady else found


def count_nodes(graph: onnx.GraphProto) -> int:
    """The nodes of a graph and of the graphs in it."""
    inner = (attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g"))
    return len(graph.node) + sum(map(count_nodes, inner))


def _cpu_seconds() -> float:
    """Of this process and of what it has waited for: the C compiler."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:LONGEST]


def _differences(model: Real, file: Path, run: Any) -> tuple[float, list[str], list[str]]:
    """The largest error of an output, relative to its largest value, and what is beyond the tolerance: errors, and
    outputs of which onnxruntime's own rounding decides as much."""
    reference = onnxruntime(file, 1, exact=True)  # on two threads, sums of trees are in another order, and ties differ
    worst, errors, unsteady = 0.0, [], []
    for sizes in model.sizes:
        arrays = inputs(file, model.inputs, sizes, SEED)
        ours, wanted = run(arrays), flat(reference(arrays))
        for name, error, message in compared(ours, wanted):
            worst = max(worst, error)
            if message or not error <= model.tolerance:
                own = 0.0 if message else _own_error(file, arrays, wanted, name)
                text = f"{dict(sizes)}: {name} {message or f'differs by {error:.1e}'}"
                (unsteady if not message and error <= own else errors).append(f"{text}, onnxruntime's own by {own:.1e}")
    return worst, errors, unsteady


def _own_error(file: Path, arrays: Mapping[str, Any], wanted: Mapping[str, np.ndarray], name: str) -> float:
    """How far onnxruntime without its optimizations, which order roundings otherwise, is from it with them."""
    plain = flat(onnxruntime(file, 1, optimized=False, exact=True)(arrays))
    return next(error for each, error, _ in compared(plain, wanted) if each == name)


def flat(outputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The outputs with a sequence of maps as ours has it, the keys of the first and all values."""
    found: dict[str, np.ndarray] = {}
    for name, value in outputs.items():
        if isinstance(value, list):
            found[f"{name}.keys"] = np.array(list(value[0]))
            found[f"{name}.values"] = np.array([list(each.values()) for each in value], np.float32)
        else:
            found[name] = value
    return found


def compared(ours: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> Iterator[tuple[str, float, str]]:
    """For each output its error and a message where it is of another form.

    The error of floats is the largest difference over the largest reference value, that of anything else the share of
    elements that differ.
    """
    for name, expected in wanted.items():
        actual = ours[name]
        if actual.shape != expected.shape or _kind(actual) != _kind(expected):
            yield name, 0.0, f"is {actual.dtype}{list(actual.shape)}, not {expected.dtype}{list(expected.shape)}"
        elif expected.dtype.kind == "f":
            yield name, *_float_error(actual.astype(np.float64), expected.astype(np.float64))
        else:
            yield name, float(np.mean(actual != expected)) if expected.size else 0.0, ""


def _kind(array: np.ndarray) -> str:
    return "words" if array.dtype.kind in "OUT" else str(array.dtype)


def _float_error(actual: np.ndarray, expected: np.ndarray) -> tuple[float, str]:
    finite = np.isfinite(expected)
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True) or not np.isfinite(actual[finite]).all():
        return 0.0, "has other values that are not finite"
    largest = np.abs(expected[finite]).max(initial=0)
    error = np.abs(actual[finite] - expected[finite]).max(initial=0)
    return float(error / largest) if largest else float(error), ""


def checked(model: Real, file: Path, folder: Path, patience: float, command: Sequence[str] = ()) -> dict[str, Any]:
    """`check` in a process of its own with an empty cache, which `patience` seconds end; `command` is put before it."""
    job = json.dumps({"name": model.name, "file": str(file), "folder": str(folder)})
    line = [*command, sys.executable, "-m", "benchmarks.real.checking", job]
    with tempfile.TemporaryDirectory() as cache:
        try:
            environment = {**os.environ, "MLC_CACHE_DIR": cache}
            done = subprocess.run(line, capture_output=True, text=True, timeout=patience, env=environment)
        except subprocess.TimeoutExpired:
            return {"status": "slow", "errors": [f"took over {patience:g} s"]}
    if done.returncode:
        last = "".join(done.stderr.strip().splitlines()[-1:])[:LONGEST]
        return {"status": "crashed", "errors": [f"exit status {done.returncode}: {last}"]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    JOB = json.loads(sys.argv[1])
    print(json.dumps(check(*models([JOB["name"]]), Path(JOB["file"]), Path(JOB["folder"]))))
