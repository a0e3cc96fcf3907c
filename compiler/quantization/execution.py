"""Runs a model on calibration data: by the interpreter where that is quick, else compiled."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

from mlc.api import make_options, open_built
from mlc.driver.compile import compile_source
from mlc.driver.onnx_source import OnnxSource
from mlc.errors import ToolchainError
from mlc.quantization.network import Array

PATIENCE = 2.0  # seconds that the interpreter may take for the first batch
Run = Callable[[Mapping[str, Array]], dict[str, Array]]


class Slow(Exception):  # noqa: N818 - no error
    """The interpreter takes longer than compiling would."""


ELEMENTS = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
            "f64": TensorProto.DOUBLE}  # fmt: skip


def with_outputs(proto: ModelProto, names: Iterable[str], elements: Mapping[str, str]) -> ModelProto:
    """The model with further tensors as outputs, of these element types; inputs are none."""
    made = ModelProto()
    made.CopyFrom(proto)
    has = {info.name for info in (*made.graph.output, *made.graph.input)}
    for name in dict.fromkeys(names):
        if name not in has:
            made.graph.output.append(helper.make_tensor_value_info(name, ELEMENTS[elements[name]], None))
    return made


def runner(proto: ModelProto, example: Mapping[str, Array], inputs: Collection[str] = ()) -> Run:
    """A function from inputs to outputs by name, among which are ``inputs`` as they are.

    Raises:
        InputError: mlc does not support an operator of the model.
    """
    run = _runner(proto, example)
    return lambda batch: {**run(batch), **{name: batch[name] for name in inputs}}


def _runner(proto: ModelProto, example: Mapping[str, Array]) -> Run:
    from mlc.frontends.onnx import import_model

    imported = import_model(proto)
    if not _timed_out(imported, example):
        return lambda batch: _interpreted(imported, batch, None)
    try:
        model = open_built(compile_source(OnnxSource.of(proto), make_options(tuned=False)))
    except ToolchainError:
        return lambda batch: _interpreted(imported, batch, None)
    return lambda batch: model.run({name: np.ascontiguousarray(batch[name]) for name in model.inputs})


def _timed_out(imported: Any, example: Mapping[str, Array]) -> bool:
    end = time.monotonic() + PATIENCE

    def watch(*_: object) -> None:
        if time.monotonic() > end:
            raise Slow

    try:
        _interpreted(imported, example, watch)
    except Slow:
        return True
    return False


def _interpreted(imported: Any, batch: Mapping[str, Array], observer: Any) -> dict[str, Array]:
    from mlc.dialects.semantics.interpreter import interpret, main_of, names

    wanted = names(main_of(imported.module).arg_attrs)
    return interpret(imported.module, imported.weights, {name: batch[name] for name in wanted}, observer)
