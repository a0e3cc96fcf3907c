"""A model that a session has opened: compiled once, or for the inputs of each run where these decide its structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlc import api
from mlc.onnxruntime.metadata import ModelMetadata, NodeArg
from mlc.onnxruntime.overrides import Overrides
from mlc.onnxruntime.sizes import OtherSizes, Run
from mlc.runtime import Model, load
from mlc.runtime.calls import Queue

if TYPE_CHECKING:
    from onnx import ModelProto


Source: TypeAlias = "Path | bytes | ModelProto"


class Opened:
    """``run`` gives the outputs by name, in the order of ``outputs``; ``model`` is absent where there is none for all
    inputs."""

    def __init__(
        self, run: Run, model: Model | None, inputs: list[NodeArg], outputs: list[NodeArg], metadata: ModelMetadata,
        overridable: Sequence[NodeArg] = (),
    ) -> None:  # fmt: skip
        self.run, self.model, self.inputs, self.outputs, self.metadata = run, model, inputs, outputs, metadata
        self.overridable = list(overridable)
        self.names = {output.name for output in outputs}
        self.queue = Queue()


def opened(source: Path | bytes, sess_options: Any, options: dict[str, Any]) -> Opened:
    """Load an artifact, or compile an ONNX model.

    Raises:
        MlcError: it cannot be read or compiled.
    """
    if isinstance(source, Path) and source.suffix == ".so":
        return _of_model(load(source, options["threads"]))
    if isinstance(source, Path) and source.suffix == ".pt2":
        return _of_model(api.compile(source, **options))
    from mlc.frontends.onnx.reading.load import read

    proto = read(source).proto
    options["dims"] = {**_dims(proto, sess_options), **(options.get("dims") or {})}
    return _of_onnx(source, proto, options)


def _of_model(model: Model) -> Opened:
    inputs = [NodeArg.of(name, spec) for name, spec in model.inputs.items()]
    outputs = [NodeArg.of(name, spec) for name, spec in model.outputs.items()]
    return Opened(_runner(model), model, inputs, outputs, ModelMetadata(graph_name=model.name))


def _of_onnx(source: Source, proto: ModelProto, options: dict[str, Any]) -> Opened:
    """The model; one whose structure the inputs decide is compiled for those of a run."""
    from mlc.frontends.onnx.backend import MlcBackend, MlcRep
    from mlc.frontends.onnx.errors import UnsupportedError
    from mlc.frontends.onnx.reading.validate import initialized, overridable
    from mlc.frontends.onnx.sequences import only_tensors

    model: Model | None = None
    if only_tensors(proto):
        try:
            model = api.compile(source, **options)
        except UnsupportedError as error:
            if not all(each.constant for each in error.found):
                raise
    if model is None:
        run = _specialising(MlcRep(MlcBackend, _whole(source), **options))
    else:
        run = OtherSizes(_grouping(model, proto), partial(_whole, source), options, partial(_grouping, proto=proto))
    given, dims = initialized(proto.graph), options["dims"]
    inputs = [info for info in proto.graph.input if info.name not in given]
    specs = (model.inputs, model.outputs) if model else ({}, {})
    shown = _args(inputs, specs[0], dims), _args(proto.graph.output, specs[1], dims)
    fixed = overridable(proto)
    if fixed:
        names = frozenset(info.name for info in fixed)
        run = Overrides(run, names, partial(_whole, source), lambda other: _of_onnx(other, other, options).run)
    return Opened(run, model, *shown, ModelMetadata.of(proto), _args(fixed, {}, dims))


def _args(infos: Sequence[Any], specs: Mapping[str, Any], dims: Mapping[str, int]) -> list[NodeArg]:
    return [NodeArg.declared(info, specs.get(info.name), dims) for info in infos]


def _dims(proto: ModelProto, sess_options: Any) -> dict[str, int]:
    """The dimensions that the options of the session fix."""
    dims = dict(getattr(sess_options, "dims", {}))
    for denotation, value in getattr(sess_options, "denotations", {}).items():
        shapes = (info.type.tensor_type.shape.dim for info in proto.graph.input)
        dims |= {d.dim_param: value for shape in shapes for d in shape if d.denotation == denotation and d.dim_param}
    return dims


def _whole(source: Source) -> ModelProto:
    import onnx

    from mlc.frontends.onnx import read_whole

    if isinstance(source, onnx.ModelProto):
        copy = onnx.ModelProto()
        copy.CopyFrom(source)
        return copy
    return read_whole(source)


def _runner(model: Model) -> Run:
    """``model.run`` with lists as arrays."""
    specs = model.inputs

    def run(feed: Mapping[str, Any]) -> dict[str, Any]:
        if any(isinstance(value, list) for value in feed.values()):
            pairs = ((name, value, specs.get(name)) for name, value in feed.items())
            feed = {n: np.asarray(v, spec.dtype) if isinstance(v, list) and spec else v for n, v, spec in pairs}
        return model.run(feed)

    return run


def _grouping(model: Model, proto: ModelProto) -> Run:
    """Tensors of the compiled model as the sequences and maps that the ONNX model has."""
    from mlc.frontends.onnx.sequences import flattened, regrouped

    run, outputs = _runner(model), proto.graph.output
    maps = [info for info in proto.graph.input if info.type.HasField("map_type")]
    if not maps and all(output.type.WhichOneof("value") in ("tensor_type", None) for output in outputs):
        return run

    def grouped(feed: Mapping[str, Any]) -> dict[str, Any]:
        tensors = {name: value for name, value in feed.items() if name not in {info.name for info in maps}}
        results = run({**tensors, **flattened(maps, feed)})
        return dict(zip([output.name for output in outputs], regrouped(outputs, results), strict=True))

    return grouped


def _specialising(rep: Any) -> Run:
    return lambda feed: dict(zip(rep.outputs, rep.run(feed), strict=True))
