"""Reads a model: a path, bytes or a proto, checked to be one that this ONNX version knows."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto

from mlc.errors import InputError
from mlc.frontends.onnx.reading.other_files import HEAD, recognised, way_into
from mlc.frontends.onnx.reading.protobuf_stream import WireError, skeleton

NEWEST_OPSET = onnx.defs.onnx_opset_version()
NEWEST_IR = onnx.IR_VERSION
SAVE_AGAIN = "Export the model again; it must be a binary ONNX file (a serialized ModelProto)"


@dataclass(frozen=True)
class Source:
    """A parsed model; the bytes of its large tensors may still be in ``file``."""

    proto: ModelProto
    file: Path | None
    name: str


def read(model: str | Path | bytes | ModelProto) -> Source:
    """Parse a model and check its versions.

    Raises:
        InputError: no such file, not an ONNX model, or of an IR version or opset that is unknown.
    """
    source = _read(model)
    _check_versions(source)
    return source


def _read(model: str | Path | bytes | ModelProto) -> Source:
    if isinstance(model, ModelProto):
        return Source(model, None, model.graph.name or "model")
    if isinstance(model, bytes | bytearray | memoryview):
        proto = _parse(bytes(model), "The model")
        return Source(proto, None, proto.graph.name or "model")
    if not isinstance(model, str | Path):
        raise InputError(f"A model is a path, bytes or a ModelProto, not {type(model).__name__}")
    path = Path(model)
    return Source(_parse_file(path), path.absolute(), path.stem)


def _parse_file(path: Path) -> ModelProto:
    what = f"'{path}'"
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise InputError(f"{what} is empty", hint=SAVE_AGAIN)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as data:
                mapped.madvise(mmap.MADV_RANDOM)  # do not read weights ahead
                bare = skeleton(data)
    except IsADirectoryError as e:
        raise InputError(f"Cannot read the model {what}: {e.strerror}", hint=way_into(path)) from e
    except OSError as e:
        raise InputError(f"Cannot read the model {what}: {e.strerror or e}") from e
    except WireError as e:
        raise _not_a_model(what, _head(path), path, f" ({e})") from e
    return _parse(bare, what, path)


def _parse(data: bytes, what: str, path: Path | None = None) -> ModelProto:
    if not data:
        raise InputError(f"{what} is empty", hint=SAVE_AGAIN)
    try:
        proto = ModelProto.FromString(data)
    except DecodeError as e:
        raise _not_a_model(what, _head(path) if path else data[:HEAD], path or data) from e
    return proto


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)


def _not_a_model(what: str, head: bytes, source: Path | bytes | None, why: str = "") -> InputError:
    """The error for a file that is no ONNX model: what it is, where that is known."""
    if found := recognised(head, source):
        return InputError(f"{what} is not an ONNX model: it is {found[0]}", hint=found[1])
    return InputError(f"{what} is not an ONNX model, or is cut short{why}", hint=SAVE_AGAIN)


def _check_versions(source: Source) -> None:
    proto, what = source.proto, f"'{source.file}'" if source.file else "The model"
    if not proto.HasField("graph") or not proto.ir_version:
        if source.file and (found := recognised(_head(source.file), source.file)):
            raise InputError(f"{what} is not an ONNX model: it is {found[0]}", hint=found[1])
        lacks = "graph" if proto.ir_version else "IR version"
        raise InputError(f"{what} is not an ONNX model: it has no {lacks}", hint=SAVE_AGAIN)
    if not 1 <= proto.ir_version <= NEWEST_IR:
        raise InputError(f"{what} has IR version {proto.ir_version}; the newest supported one is {NEWEST_IR}")
    if proto.ir_version >= 3 and not proto.opset_import:
        raise InputError(f"{what} does not say which opset it uses", hint=SAVE_AGAIN)
    for opset in proto.opset_import:
        if not 1 <= opset.version < 1 << 31:
            raise InputError(f"{what} uses opset {opset.version} of domain '{opset.domain}'", hint=SAVE_AGAIN)
        if opset.domain in ("", "ai.onnx") and not 1 <= opset.version <= NEWEST_OPSET:
            hint = f"Export with an opset of at most {NEWEST_OPSET}, or install a newer onnx package"
            raise InputError(
                f"{what} uses opset {opset.version}; the newest supported one is {NEWEST_OPSET}", hint=hint
            )
