"""Files that are no ONNX models: recognize their format by the first bytes, and say how to make an ONNX model of
them.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

HEAD = 4096
"""Bytes that are read of a file to recognise it."""

_EXPORT = "Load the network in Python, then call torch.onnx.export(net, inputs, 'model.onnx') or mlc.compile(program)"
_TENSORS = "It has weights and no network"
_KERAS = "Convert it: python -m tf2onnx.convert --keras FILE --output model.onnx"
_EXTRACT = "Extract it first, and give the .onnx file in it"

_MAGIC: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"version https://git-lfs.github.com/spec", "a Git LFS pointer, which stands for a file not yet downloaded",
     "Run 'git lfs pull' in its repository, or download the file itself"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, such as Keras writes", _KERAS),
    (4, b"TFL3", "a TensorFlow Lite model", "Convert it: python -m tf2onnx.convert --tflite FILE --output model.onnx"),
    (4, b"ORTM", "a model in onnxruntime's own format (.ort)", "Give the ONNX file that it was made of"),
    (0, b"GGUF", "a GGUF file of llama.cpp", "Export the network that its weights belong to as ONNX"),
    (0, b"\x1f\x8b", "compressed by gzip", "Run gunzip on it first (of a .tar.gz: tar xzf), and give the .onnx file"),
    (0, b"BZh", "compressed by bzip2", "Run bunzip2 on it first"),
    (0, b"\xfd7zXZ\0", "compressed by xz", "Run unxz on it first"),
    (0, b"\x28\xb5\x2f\xfd", "compressed by Zstandard", "Run unzstd on it first"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _EXTRACT),
    (0, b"Rar!", "a RAR archive", _EXTRACT),
    (257, b"ustar", "a tar archive", _EXTRACT),
    (0, b"\x93NUMPY", "a NumPy array", _TENSORS),
    (0, b"\x7fELF", "machine code, such as a model that mlc compiled", "Give the .onnx file, or use 'mlc run'"),
    (0, b"%PDF", "a PDF document", "Give the .onnx file"),
    (0, b"RKNN", "a model for Rockchip's processors", "Give the ONNX file that it was made of"),
    (0, b"\x80", "a Python pickle, such as an older torch.save or joblib.dump writes",
     f"{_EXPORT}; of scikit-learn: skl2onnx.to_onnx"),
)  # fmt: skip

_STARTS: tuple[tuple[bytes, str, str], ...] = (
    (rb"<!doctype html|<html|<head", "an HTML page, such as a server sends in the place of a file",
     "Download the file again, by its raw or direct link"),
    (rb"(<\?xml[^>]*>\s*)?<net ", "an OpenVINO model (.xml)", "Give the ONNX file that it was made of"),
    (rb"<\?xml", "an XML document, such as a server's error", "Download the file again"),
    (rb"\{.{0,400}\"learner\"", "an XGBoost model as JSON", "Convert it by onnxmltools.convert_xgboost"),
    (rb"\{.{0,4000}(\"modelTopology\"|\"weightsManifest\")", "a TensorFlow.js model",
     "Give the TensorFlow model that it was made of to tf2onnx"),
    (rb"\{", "JSON", "Give the .onnx file that it belongs to"),
    (rb"tree\s+version=", "a LightGBM model as text", "Convert it by onnxmltools.convert_lightgbm"),
    (rb"(ir_version\s*:|<\s*ir_version)", "an ONNX model as text",
     "Write it as binary: onnx.save(onnx.load('model.txtpb', format='textproto'), 'model.onnx')"),
    (rb"7767517", "an ncnn network (.param)", "Give the ONNX file that it was made of"),
    (rb"(access denied|not found|error|<error|accessdenied)", "a server's error message", "Download the file again"),
)  # fmt: skip

_OF_SUFFIX = {
    ".pb": ("a TensorFlow graph", "Convert it: python -m tf2onnx.convert --graphdef FILE --inputs x:0 --outputs y:0"),
    ".pdmodel": ("a PaddlePaddle network", "Convert it by paddle2onnx --model_dir FOLDER --save_file model.onnx"),
    ".pdiparams": ("a file of PaddlePaddle's weights", "Convert the network beside it by paddle2onnx"),
    ".mlmodel": ("a Core ML model", "Export the network that it was made of as ONNX"),
    ".caffemodel": ("a Caffe network", "Export the network as ONNX"),
    ".engine": ("a TensorRT engine", "Give the ONNX file that it was made of"),
    ".onnx_data": ("the file of an ONNX model's weights", "Give the .onnx file beside it"),
    ".data": ("perhaps the file of an ONNX model's weights", "Give the .onnx file beside it"),
    ".bin": ("perhaps a file of weights", "Give the .onnx file that it belongs to"),
}


def recognised(head: bytes, source: Path | bytes | None) -> tuple[str, str] | None:
    """The format of a file that is no ONNX model, and what to do. None for an unknown format.

    ``head``: its first bytes, at most ``HEAD`` are looked at; ``source``: the file, or all of its bytes.
    """
    if head.startswith(b"PK\x03\x04"):
        return _archive(source)
    if _is_safetensors(head):
        return "a safetensors file", f"{_TENSORS}: {_EXPORT[0].lower()}{_EXPORT[1:]}"
    for at, magic, what, hint in _MAGIC:
        if head[at:].startswith(magic):
            return what, hint
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    for pattern, what, hint in _STARTS:
        if re.match(pattern, start, re.IGNORECASE | re.DOTALL):
            return what, hint
    if isinstance(source, Path) and (found := _OF_SUFFIX.get(source.suffix.lower())):
        return found
    return ("text", "Give a binary ONNX file") if _is_text(head) else None


def _is_text(head: bytes) -> bool:
    """Whether bytes are text: UTF-8 (the last character may be cut) without control characters other than line ends."""
    if not head or any(byte < 32 and byte not in b"\t\n\r\f" for byte in head):
        return False
    try:
        head[:-4].decode()
    except UnicodeDecodeError:
        return False
    return True


def way_into(folder: Path) -> str:
    """A hint that says what to give in place of a folder."""
    models = sorted(path.name for path in folder.glob("*.onnx"))[:3]
    if os.path.exists(folder / "saved_model.pb"):
        return "Convert TensorFlow's folder: python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"
    return f"Give a file in it: {', '.join(models)}" if models else "Give the .onnx file in it"


def _is_safetensors(head: bytes) -> bool:
    """Eight bytes of the header's length, then the header, which is JSON (the format's specification)."""
    return len(head) > 9 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") < 1 << 30


def _archive(source: Path | bytes | None) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(source if isinstance(source, Path) else io.BytesIO(source or b"")) as archive:
            return _contents(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "a damaged zip archive", "Download or copy it again"


def _contents(names: Iterable[str]) -> tuple[str, str]:
    """The format of a zip archive, by the names of its files."""
    files = [name for name in names if not name.endswith("/")]
    ends = {name.partition("/")[2] or name for name in files}
    models = [name for name in files if name.endswith(".onnx")]
    if models:
        return "a zip archive", f"Extract it first, and give {', '.join(models[:3])}"
    if ends & {"serialized_exported_program.json", "models/model.json", "archive_format"}:
        return "a PyTorch program of torch.export.save", "Name it model.pt2"
    if "data.pkl" in ends and any(end.startswith("code/") for end in ends):
        return "a TorchScript module", f"{_EXPORT[0]}{_EXPORT[1:].replace('the network', 'it by torch.jit.load')}"
    if "data.pkl" in ends:
        return "a PyTorch checkpoint, which has weights and no network", _EXPORT
    if "model.weights.h5" in ends:
        return "a Keras model", _KERAS
    if files and all(name.endswith(".npy") for name in files):
        return "a file of NumPy arrays", _TENSORS
    return "a zip archive", "Extract it first; it has no .onnx file"
