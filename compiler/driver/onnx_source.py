"""The source of an ONNX model: a file, or the bytes of one. The only part of the driver that knows ONNX."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.driver.cache import code_digest, digest, digest_cache
from mlc.errors import InputError
from mlc.plugins import load_operators

if TYPE_CHECKING:
    from onnx import ModelProto

    from mlc.frontends.imported import Imported


@dataclass(frozen=True)
class OnnxSource:
    """``name`` is the artifact's stem before it is made an identifier. ``cache``: how many tokens the caches of a
    decoder have room for, which are then state of the artifact; 0: they are inputs and outputs.
    """

    model: Path | bytes
    name: str
    digest: str
    cache: int = 0

    @classmethod
    def of(cls, model: str | Path | bytes | ModelProto) -> OnnxSource:
        """The source of a model. Raises InputError if there is no such file, or ``model`` has another type."""
        if isinstance(model, str | Path):
            path = Path(model)
            return cls(path, path.stem, _digest_of(path))
        return cls.named("model", model if isinstance(model, bytes) else _serialized(model))

    def with_cache(self, tokens: int) -> OnnxSource:
        """The model with its caches as state, with room for so many tokens."""
        return replace(self, cache=tokens, digest=digest.of_bytes(f"{self.digest} {tokens}".encode()))

    @classmethod
    def named(cls, name: str, data: bytes) -> OnnxSource:
        return cls(data, name, digest.of_bytes(data))

    @property
    def kind(self) -> str:
        """The kind of the source. Bytes and a file of the same contents differ, since symbols are named after the graph
        or the file.
        """
        return "onnx file" if isinstance(self.model, Path) else "onnx bytes"

    @property
    def folder(self) -> Path:
        return self.model.parent if isinstance(self.model, Path) else Path()

    def code(self) -> Mapping[str, str]:
        load_operators()
        importers = sys.modules.get("mlc.frontends.onnx.node")  # nobody can have registered anything without it
        return {
            f"{domain}.{name} {since}": code_digest.of(function)
            for (domain, name), versions in getattr(importers, "REGISTRY", {}).items()
            for since, function in versions
            if not str(getattr(function, "__module__", "")).startswith("mlc.")
        }

    def external_files(self) -> tuple[str, ...]:
        from mlc.frontends.onnx import external_files

        return external_files(self.model) if isinstance(self.model, Path) else ()

    def imported(self, dims: Mapping[str, int]) -> Imported:
        from mlc.frontends.onnx import import_model

        load_operators()
        return import_model(self.model, dims, self.cache)

    def problems(self, dims: Mapping[str, int]) -> list[str]:
        """Every reason why the model cannot be compiled, one line each. InputError if it is malformed."""
        from mlc.frontends.onnx import check_model

        load_operators()
        return [str(problem) for problem in check_model(self.model, dims, self.cache)]

    def operators(self) -> Counter[str]:
        """How often the model has each operator, as written; nodes in subgraphs and functions are not counted."""
        import onnx

        model = onnx.load(self.model, load_external_data=False) if isinstance(self.model, Path) else None
        proto = onnx.load_from_string(self.model) if model is None else model  # type: ignore[arg-type]
        return Counter(node.op_type for node in proto.graph.node)


def _digest_of(path: Path) -> str:
    try:
        return digest_cache.of_file(path)
    except OSError as error:
        from mlc.frontends.onnx.reading.other_files import way_into

        hint = way_into(path) if os.path.isdir(path) else None
        raise InputError(f"Cannot read the model {path}: {error.strerror}", stage="import", hint=hint) from error


def _serialized(model: Any) -> bytes:
    if not hasattr(model, "SerializeToString"):
        raise InputError(f"Cannot compile a {type(model).__name__}", stage="import", hint=_way_to_onnx(model))
    data: bytes = model.SerializeToString(deterministic=True)
    return data


_EXPORT = "torch.export.export(model, inputs)"


def _way_to_onnx(model: Any) -> str:
    """A hint for an object of another framework, which is recognized by the modules of its classes without importing
    them.
    """
    frameworks = {each.__module__.partition(".")[0] for each in type(model).__mro__}
    if hasattr(model, "model_proto"):
        return "It has the model: give its model_proto"
    if "torch" in frameworks:
        return f"Export it: {_EXPORT}, and give the program"
    if frameworks & {"tensorflow", "keras"}:
        return "Convert it by the package tf2onnx, and give the ONNX file"
    if "onnxruntime" in frameworks:
        return "Give the ONNX file that the session was made of"
    return "Give a path, the bytes of an ONNX file, or a ModelProto"
