"""The values of an ONNX model's tensors by onnxruntime, without its optimizations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto, load, load_from_string

from mlc.errors import InputError

Array = np.ndarray[Any, Any]
MOST_BYTES = 2**31 - 1  # of a serialized model


def read(model: Path | bytes) -> ModelProto:
    """The model with its external data. Raises InputError where that cannot be read."""
    try:
        return load(model) if isinstance(model, Path) else load_from_string(model)
    except Exception as error:  # of protobuf, and of the files
        raise InputError(f"Cannot read the model with its weights: {error}", stage="import") from error


def onnxruntime_values(model: ModelProto, names: list[str], inputs: Mapping[str, Array]) -> dict[str, Any]:
    """The values of some tensors of the main graph.

    Raises:
        InputError: onnxruntime is missing, does not take the model, or cannot run it on these inputs.
    """
    session = _session(_with_outputs(model, names))
    taken = {each.name for each in session.get_inputs()}
    try:
        found = session.run(names, {name: x for name, x in inputs.items() if name in taken})
    except Exception as error:  # its own classes
        raise InputError(f"onnxruntime cannot run the model on these inputs: {error}") from error
    return dict(zip(names, found, strict=True))


def outputs_of(name: str, value: Any) -> Mapping[str, Array]:
    """An output of onnxruntime under mlc's names: of a sequence of maps, the keys and the values; of others nothing."""
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        keys = list(value[0])
        rows = np.asarray([[each[key] for key in keys] for each in value], np.float32)
        return {f"{name}.keys": np.asarray(keys), f"{name}.values": rows}
    return {name: value} if isinstance(value, np.ndarray) else {}


def made_by_nodes(model: ModelProto) -> Iterator[str]:
    """The tensors that the nodes of the main graph make, in order."""
    for node in model.graph.node:
        yield from filter(None, node.output)


def _with_outputs(model: ModelProto, names: list[str]) -> ModelProto:
    made = ModelProto()
    made.CopyFrom(model)
    has = {each.name for each in made.graph.output}
    made.graph.output.extend(ValueInfoProto(name=name) for name in names if name not in has)
    return made


def _session(model: ModelProto) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        hint = "pip install onnxruntime, or give the expected outputs"
        raise InputError("onnxruntime, whose values are the reference, is not installed", hint=hint) from error
    if model.ByteSize() > MOST_BYTES:
        raise InputError("The model has over 2 GiB, and onnxruntime's values of its nodes need it as one message")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its own classes
        raise InputError(f"onnxruntime does not load the model: {error}") from error
