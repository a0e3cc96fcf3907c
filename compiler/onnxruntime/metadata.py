"""Descriptions of a session's model: inputs, outputs and the metadata of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mlc.runtime import TensorSpec

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto, ValueInfoProto

_ONNX_NAMES = {"float32": "float", "float64": "double", "object": "string"}
NO_VERSION = (1 << 63) - 1  # what onnxruntime says of a file without a model version


@dataclass(frozen=True)
class NodeArg:
    """An input or output: ``shape`` has integers, names of symbolic dimensions, and None where one has no name;
    ``type`` is ``tensor(float)``, ``seq(map(int64,tensor(float)))``.
    """

    name: str
    shape: list[int | str | None]
    type: str

    @classmethod
    def of(cls, name: str, spec: TensorSpec) -> NodeArg:
        """A tensor of a compiled model."""
        return cls(name, list(spec.shape), f"tensor({_ONNX_NAMES.get(spec.dtype.name, _plain(spec.dtype.name))})")

    @classmethod
    def declared(cls, info: ValueInfoProto, spec: TensorSpec | None, dims: Mapping[str, int]) -> NodeArg:
        """A tensor as the model's file declares it, with the fixed dimensions. ``spec`` serves where the file declares
        no shape.
        """
        if spec is not None and not info.type.tensor_type.HasField("shape"):
            return cls.of(info.name, spec)
        shape = info.type.tensor_type.shape.dim if info.type.HasField("tensor_type") else ()
        return cls(info.name, [_extent(dim, dims) for dim in shape], type_text(info.type))


def _plain(name: str) -> str:
    return name.replace("_", "")


def _extent(dim: Any, dims: Mapping[str, int]) -> int | str | None:
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return dims.get(dim.dim_param, dim.dim_param) or None


def type_text(type_: TypeProto) -> str:
    """``tensor(float)``, ``seq(tensor(int64))``, ``map(string,tensor(float))``, ``optional(tensor(float))``."""
    kind = str(type_.WhichOneof("value"))
    if kind == "sequence_type":
        return f"seq({type_text(type_.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({type_text(type_.optional_type.elem_type)})"
    if kind == "map_type":
        return f"map({_element(type_.map_type.key_type)},{type_text(type_.map_type.value_type)})"
    return f"tensor({_element(getattr(getattr(type_, kind, None), 'elem_type', 0))})"


def _element(kind: int) -> str:
    from onnx import TensorProto

    known = kind in TensorProto.DataType.values()
    return _plain(TensorProto.DataType.Name(kind if known else TensorProto.UNDEFINED).lower())


@dataclass(frozen=True)
class ModelMetadata:
    """The metadata of a model's file; ``custom_metadata_map`` has its ``metadata_props``."""

    producer_name: str = ""
    graph_name: str = ""
    domain: str = ""
    description: str = ""
    graph_description: str = ""
    version: int = NO_VERSION
    custom_metadata_map: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, proto: ModelProto) -> ModelMetadata:
        custom = {entry.key: entry.value for entry in proto.metadata_props}
        return cls(proto.producer_name, proto.graph.name, proto.domain, proto.doc_string, proto.graph.doc_string,
                   proto.model_version if proto.HasField("model_version") else NO_VERSION, custom)  # fmt: skip
