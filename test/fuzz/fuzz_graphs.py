"""Compiles random graphs and compares them with onnxruntime: `python test/fuzz/fuzz_graphs.py --count 10000`.

Stops at nothing: each mismatch, crash or refusal is a line with its seed, and the model is written to `--folder`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Annotated, Any

import numpy as np
import onnx
import onnxruntime
import typer
from grow import grown
from growing import drawn
from isolate import judged
from onnx.reference import ReferenceEvaluator
from rich.progress import track
from sanitized import SANITIZERS, restart
from scratch import scratch

import mlc

SECONDS = 300.0  # for one graph, the C compiler included
HALF = 1e-2  # of the largest value of 16 bits
TOLERANCE = 5e-5  # of the largest value, as docs/numerics.md promises


def feeds(model: onnx.ModelProto, seed: int) -> dict[str, Any]:
    """Inputs of a model, of numbers up to 2."""
    random, found = np.random.default_rng(seed), {}
    for info in model.graph.input:
        type_ = info.type.tensor_type
        shape = tuple(d.dim_value for d in type_.shape.dim)
        found[info.name] = drawn(random, shape, onnx.helper.tensor_dtype_to_np_dtype(type_.elem_type).name)
    return found


def reference(model: onnx.ModelProto, inputs: dict[str, Any]) -> dict[str, Any]:
    """What onnxruntime gives, node by node as the model has them; where it has no kernel, onnx's own evaluator."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    names = [o.name for o in model.graph.output]
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return dict(zip(names, session.run(names, inputs), strict=True))
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        return _evaluated(model, names, inputs)


def _evaluated(model: onnx.ModelProto, names: list[str], inputs: dict[str, Any]) -> dict[str, Any]:
    try:
        with np.errstate(all="ignore"):
            return dict(zip(names, ReferenceEvaluator(model).run(None, inputs), strict=True))
    except Exception:  # it does not have all types and shapes either
        return {}


def difference(seed: int, size: int = 8, sanitize: str = "") -> str:
    """What is wrong with the model of a seed; empty where nothing is."""
    model = grown(seed, size)
    inputs = feeds(model, seed)
    expected = reference(model, inputs)
    actual = mlc.compile(model, threads=1 + seed % 3, sanitize=sanitize).run(inputs)
    return "; ".join(line for name, wanted in expected.items() for line in _compare(name, actual[name], wanted))


def _compare(name: str, actual: Any, wanted: Any) -> Iterator[str]:
    if (actual.dtype, actual.shape) != (wanted.dtype, wanted.shape):
        yield f"{name} is {actual.dtype}{actual.shape} in place of {wanted.dtype}{wanted.shape}"
    elif wanted.size and (error := np.abs(actual.astype("f8") - wanted).max()) > _allowed(wanted):
        yield f"{name} is off by {error:.3g} of {np.abs(wanted).max():.3g}"


def _allowed(wanted: Any) -> float:
    """Nothing for whole numbers; of 16 bits, onnxruntime rounds each result."""
    if wanted.dtype.kind != "f":
        return 0
    share = HALF if wanted.dtype == np.float16 else TOLERANCE
    return float(share * max(1, np.abs(wanted).max()))


def main(
    count: Annotated[int, typer.Option(help="Graphs to grow.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Of the first graph; random by default.")] = None,
    size: Annotated[int, typer.Option(help="Nodes of a graph, about.")] = 8,
    folder: Annotated[Path, typer.Option(help="Where models that fail are written.")] = Path("fuzz"),
    sanitize: Annotated[bool, typer.Option("--sanitize", help="Build with the address sanitizer and others.")] = False,
) -> None:
    """Compare random graphs with onnxruntime; exit code 1 if one differs."""
    if sanitize:
        restart()
    first, failed = SystemRandom().getrandbits(31) if seed is None else seed, 0
    judge = partial(difference, size=size, sanitize=SANITIZERS if sanitize else "")
    with scratch():
        for each, problem in track(judged(range(first, first + count), judge, SECONDS), f"seeds from {first}", count):
            if problem:
                failed += 1
                folder.mkdir(exist_ok=True)
                onnx.save(grown(each, size), folder / f"{each}.onnx")
                print(f"seed {each}: {problem}", flush=True)
    print(f"{count - failed} of {count} graphs agree")
    raise typer.Exit(bool(failed))


if __name__ == "__main__":
    typer.run(main)
