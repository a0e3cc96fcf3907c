"""Whether mlc gives for random graphs what onnxruntime gives, or where that cannot, what onnx's evaluator gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import onnx
import onnxruntime
from grow import grown
from growing import ROUGH, ROUNDED, cone, feeds, joined, opsets, prefixed
from leaks import own_allocations
from networks import network
from onnx.reference import ReferenceEvaluator

import mlc

TOLERANCE = 5e-5  # of the largest value, as docs/numerics.md promises
HALF = 1e-2  # of the largest value of 16 bits, of which it tells too
UNKNOWN = "no reference"  # how a line begins about a graph that nobody else can run, or on which others disagree
SIZES = (5, 19)  # of open dimensions, one after the other; sizes that data gives change as well
onnxruntime.set_default_logger_severity(4)
Values = dict[str, Any]
KINDS: dict[str, Callable[[int, int], onnx.ModelProto]] = {"graphs": grown, "networks": network}


def difference(seed: int, size: int = 8, sanitize: str = "", kind: str = "graphs") -> str:
    """What is wrong with the graph of a seed; empty where nothing is."""
    return differences([seed], size, sanitize, kind)


def differences(seeds: Sequence[int], size: int, sanitize: str, kind: str = "graphs") -> str:
    """What is wrong with graphs, a line each. Those of one opset are compiled together."""
    models = {seed: prefixed(KINDS[kind](seed, size), f"s{seed}_") for seed in seeds}
    parts = groupby(seeds, lambda seed: opsets(models[seed])[""])
    lines = (line for _, part in parts for line in _together({s: models[s] for s in part}, sanitize))
    return "\n".join(dict.fromkeys(lines))  # sizes of open dimensions that say the same once


def _together(models: dict[int, onnx.ModelProto], sanitize: str) -> Iterator[str]:
    threads = 1 + next(iter(models)) % 3
    with own_allocations(), mlc.compile(joined(list(models.values())), threads=threads, sanitize=sanitize) as net:
        for size in SIZES if net.dims or net.signature.get("sizes") else SIZES[:1]:
            yield from _run(net, models, size)


def _run(net: mlc.Model, models: dict[int, onnx.ModelProto], size: int) -> Iterator[str]:
    """What is wrong with the results of graphs, with open dimensions of such a size."""
    inputs = {seed: feeds(model, seed, size) for seed, model in models.items()}
    results = net.run({name: value for each in inputs.values() for name, value in each.items()})
    for seed, model in models.items():
        yield from wrong(model, inputs[seed], results)


def wrong(model: onnx.ModelProto, inputs: Values, results: Values) -> list[str]:
    """What differs from the references; of a graph about which they cannot say, one line why."""
    wanted = _by_onnxruntime(model, inputs)
    if not isinstance(wanted, str) and not any(compare(results, wanted)):
        return []
    lines = [line for output in model.graph.output for line in _alone(cone(model, output.name), inputs, results)]
    return [line for line in lines if not line.startswith(UNKNOWN)] or lines[:1]


def _alone(part: onnx.ModelProto, inputs: Values, results: Values) -> list[str]:
    """The same for the only output of a model: what onnxruntime does not run another output may not need."""
    inputs = {info.name: inputs[info.name] for info in part.graph.input}
    theirs, other = _by_onnxruntime(part, inputs), evaluated(part, inputs)
    if isinstance(theirs, str):
        why = f"{UNKNOWN}: onnxruntime: {theirs}; onnx: {other}"
        return [why] if isinstance(other, str) else list(compare(results, other))
    lines = list(compare(results, theirs))
    supported = not isinstance(other, str) and not any(compare(results, other))
    return [f"{UNKNOWN}: onnxruntime alone differs: {line}" for line in lines] if supported else lines


def _by_onnxruntime(model: onnx.ModelProto, inputs: Values) -> Values | str:
    """What onnxruntime gives, node by node as the model has them; else why it does not."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    names = [o.name for o in model.graph.output]
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        found = zip(model.graph.output, session.run(names, inputs), strict=True)
        results = {info.name: _as_declared(info, value) for info, value in found}
        _check_declared(model, results)  # of an operand without elements it reduces none
        return results
    except Exception as error:
        return _short(error)


def _as_declared(info: onnx.ValueInfoProto, value: Any) -> Any:
    """A result of onnxruntime's, which gives the bytes of floats of 8 bits."""
    kind = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    return value.view(kind) if value.dtype == np.uint8 and kind.name.startswith("float8") else value


def evaluated(model: onnx.ModelProto, inputs: Values) -> Values | str:
    """What onnx's evaluator gives; else why it does not."""
    names = [o.name for o in model.graph.output]
    try:
        with np.errstate(all="ignore"):
            results = dict(zip(names, ReferenceEvaluator(model).run(None, inputs), strict=True))
        _check_declared(model, results)
        return results
    except Exception as error:  # it does not have all types and shapes either
        return _short(error)


def _short(error: Exception) -> str:
    return str(error)[:150].replace("\n", " ")


def _check_declared(model: onnx.ModelProto, results: Values) -> None:
    """ValueError where a reference gives other types or shapes than the model says, as it does for some operators."""
    for info in model.graph.output:
        kind, shape = info.type.tensor_type.elem_type, info.type.tensor_type.shape
        fits = [d.dim_value == s or not d.HasField("dim_value") for d, s in zip(shape.dim, results[info.name].shape)]  # noqa: B905
        known = info.type.tensor_type.HasField("shape")
        if results[info.name].dtype != onnx.helper.tensor_dtype_to_np_dtype(kind) or not all(fits):
            raise ValueError(f"{info.name} is not as declared")
        if known and len(shape.dim) != results[info.name].ndim:
            raise ValueError(f"{info.name} is not as declared")


def compare(results: Values, expected: Values, precise: float = TOLERANCE, rough: float = HALF) -> Iterator[str]:
    """A line for each output that differs: by more than ``precise``, or ``rough`` of 16 bits, of the largest value."""
    for name, wanted in expected.items():
        actual, wanted = results[name], np.asarray(wanted)
        if (actual.dtype, actual.shape) != (wanted.dtype, wanted.shape):
            yield f"{name} is {actual.dtype}{actual.shape} in place of {wanted.dtype}{wanted.shape}"
        elif wanted.dtype.kind == "O":
            yield from [f"{name} has other strings"] if (actual != wanted).any() else []
        elif wanted.size and (error := _error(actual, wanted, name, precise, rough)):
            yield f"{name} is off by {error:.3g}, the largest is {np.abs(_wide(wanted)).max():.3g}"


def _wide(array: Any) -> Any:
    return array if array.dtype.kind in "iub" else array.astype("f8")


def _error(actual: Any, wanted: Any, name: str, precise: float, rough: float) -> float:
    """The largest difference, if it is too large: infinite where only one is NaN, or infinities differ."""
    mark = name.rpartition("_")[2][0]
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
    return error if error > (rough if narrow else precise) * largest else 0.0
