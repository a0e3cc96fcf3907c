"""Whether mlc gives for random graphs what onnxruntime gives, or where that cannot, what onnx's evaluator gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import onnx
import onnxruntime
from grow import grown
from growing import ROUGH, ROUNDED, feeds, joined, opsets, prefixed
from leaks import own_allocations
from onnx.reference import ReferenceEvaluator

import mlc

HALF = 1e-2  # of the largest value of 16 bits
TOLERANCE = 5e-5  # of the largest value, as docs/numerics.md promises
UNKNOWN = "no reference"  # how a line begins about a graph that nobody else can run, or on which others disagree
SIZES = (5, 19)  # of open dimensions, one after the other
onnxruntime.set_default_logger_severity(4)
Values = dict[str, Any]


def difference(seed: int, size: int = 8, sanitize: str = "") -> str:
    """What is wrong with the graph of a seed; empty where nothing is."""
    return differences([seed], size, sanitize)


def differences(seeds: Sequence[int], size: int, sanitize: str) -> str:
    """What is wrong with graphs, a line each. Those of one opset are compiled together."""
    models = {seed: prefixed(grown(seed, size), f"s{seed}_") for seed in seeds}
    parts = groupby(seeds, lambda seed: opsets(models[seed])[""])
    return "\n".join(line for _, part in parts for line in _together({s: models[s] for s in part}, sanitize))


def _together(models: dict[int, onnx.ModelProto], sanitize: str) -> Iterator[str]:
    threads = 1 + next(iter(models)) % 3
    with own_allocations(), mlc.compile(joined(list(models.values())), threads=threads, sanitize=sanitize) as net:
        for size in SIZES if net.dims else SIZES[:1]:
            yield from _run(net, models, size)


def _run(net: mlc.Model, models: dict[int, onnx.ModelProto], size: int) -> Iterator[str]:
    """What is wrong with the results of graphs, with open dimensions of such a size."""
    inputs = {seed: feeds(model, seed, size) for seed, model in models.items()}
    results = net.run({name: value for each in inputs.values() for name, value in each.items()})
    for seed, model in models.items():
        wanted = reference(model, inputs[seed])
        lines = [wanted] if isinstance(wanted, str) else list(compare(results, wanted))
        if lines and not isinstance(wanted, str) and _supported(model, inputs[seed], results):
            lines = [f"{UNKNOWN}: onnxruntime alone differs: {lines[0]}"]
        yield from lines


def _supported(model: onnx.ModelProto, inputs: Values, results: Values) -> bool:
    """Whether onnx's evaluator gives these results."""
    wanted = _evaluated(model, [o.name for o in model.graph.output], inputs, "")
    return not isinstance(wanted, str) and not any(compare(results, wanted))


def reference(model: onnx.ModelProto, inputs: Values) -> Values | str:
    """What onnxruntime gives, node by node as the model has them, or onnx's evaluator; else why neither does."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    names = [o.name for o in model.graph.output]
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return dict(zip(names, session.run(names, inputs), strict=True))
    except Exception as error:
        return _evaluated(model, names, inputs, str(error))


def _evaluated(model: onnx.ModelProto, names: list[str], inputs: Values, reason: str) -> Values | str:
    try:
        with np.errstate(all="ignore"):
            results = dict(zip(names, ReferenceEvaluator(model).run(None, inputs), strict=True))
        _check_declared(model, results)
        return results
    except Exception as error:  # it does not have all types and shapes either
        return f"{UNKNOWN}: onnxruntime: {reason[:150]}; onnx: {str(error)[:150]}".replace("\n", " ")


def _check_declared(model: onnx.ModelProto, results: Values) -> None:
    """ValueError where the evaluator gives other types or shapes than the model says, as it does for some operators."""
    for info in model.graph.output:
        kind, shape = info.type.tensor_type.elem_type, info.type.tensor_type.shape
        fits = [d.dim_value == s or not d.HasField("dim_value") for d, s in zip(shape.dim, results[info.name].shape)]  # noqa: B905
        known = info.type.tensor_type.HasField("shape")
        if results[info.name].dtype != onnx.helper.tensor_dtype_to_np_dtype(kind) or not all(fits):
            raise ValueError(f"{info.name} is not as declared")
        if known and len(shape.dim) != results[info.name].ndim:
            raise ValueError(f"{info.name} is not as declared")


def compare(results: Values, expected: Values) -> Iterator[str]:
    """A line for each output that differs."""
    for name, wanted in expected.items():
        actual, wanted = results[name], np.asarray(wanted)
        if (actual.dtype, actual.shape) != (wanted.dtype, wanted.shape):
            yield f"{name} is {actual.dtype}{actual.shape} in place of {wanted.dtype}{wanted.shape}"
        elif wanted.size and (error := _error(actual, wanted, name.rpartition("_")[2][0])):
            yield f"{name} is off by {error:.3g}, the largest is {np.abs(_wide(wanted)).max():.3g}"


def _wide(array: Any) -> Any:
    return array if array.dtype.kind in "iub" else array.astype("f8")


def _error(actual: Any, wanted: Any, mark: str) -> float:
    """The largest difference, if it is too large: infinite where only one is NaN, or infinities differ."""
    if wanted.dtype.kind in "iub":
        error = float(np.abs(actual.astype("f8") - wanted.astype("f8")).max()) if (actual != wanted).any() else 0.0
        return error if error > (mark == ROUNDED) else 0.0
    actual, narrow = _wide(actual), mark == ROUGH or wanted.dtype.itemsize < 4
    wanted = _wide(wanted)
    same = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
    if not (np.isfinite(actual) & np.isfinite(wanted) | same).all():
        return float("inf")
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=1)
    error = float(np.abs(np.where(same, 0, actual - np.where(same, 0, wanted))).max(where=~same, initial=0))
    return error if error > (HALF if narrow else TOLERANCE) * largest else 0.0
