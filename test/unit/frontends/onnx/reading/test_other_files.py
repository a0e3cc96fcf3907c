"""Files that are no ONNX models: the error says what one is and what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from onnx import TensorProto, helper

import mlc
from mlc.frontends.onnx.reading.load import read

MODEL = helper.make_model(
    helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "relu",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])],
    ),
    opset_imports=[helper.make_opsetid("", 18)],
).SerializeToString()
WEIGHTS = {"a": np.arange(6, dtype=np.float32)}


def archive(*names: str) -> bytes:
    with zipfile.ZipFile(made := io.BytesIO(), "w") as file:
        for name in names:
            file.writestr(name, b"content")
    return made.getvalue()


def array_file(save: Callable[..., None]) -> bytes:
    save(made := io.BytesIO(), WEIGHTS["a"])
    return made.getvalue()


def tarred() -> bytes:
    with tarfile.open(fileobj=(made := io.BytesIO()), mode="w") as file:
        info = tarfile.TarInfo("model.onnx")
        info.size = len(MODEL)
        file.addfile(info, io.BytesIO(MODEL))
    return made.getvalue()


FILES: list[tuple[str, bytes, str, str]] = [
    ("lfs.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 12345\n", "Git LFS", "git lfs pull"),
    ("page.onnx", b"\n<!DOCTYPE html>\n<html><body>404</body></html>", "HTML page", "Download"),
    ("net.pth", archive("net/data.pkl", "net/version", "net/data/0"), "PyTorch checkpoint", "torch.onnx.export"),
    ("script.pt", archive("m/data.pkl", "m/code/__torch__.py", "m/constants.pkl"), "TorchScript", "torch.jit.load"),
    ("old.pth", pickle.dumps(WEIGHTS, 2), "pickle", "torch.onnx.export"),
    ("program.pt", archive("p/models/model.json", "p/archive_format"), "torch.export.save", "model.pt2"),
    ("net.h5", b"\x89HDF\r\n\x1a\n" + bytes(64), "HDF5", "tf2onnx"),
    ("net.keras", archive("config.json", "metadata.json", "model.weights.h5"), "Keras", "tf2onnx"),
    ("net.tflite", b"\x1c\0\0\0TFL3" + bytes(40), "TensorFlow Lite", "--tflite"),
    ("net.ort", b"\x24\0\0\0ORTM" + bytes(40), "onnxruntime's own format", "ONNX file"),
    ("net.safetensors", safetensors.numpy.save(WEIGHTS), "safetensors", "torch.onnx.export"),
    ("net.gguf", b"GGUF\x03\0\0\0" + bytes(40), "GGUF", "Export"),
    ("net.onnx.gz", gzip.compress(MODEL), "gzip", "gunzip"),
    ("net.onnx.bz2", bz2.compress(MODEL), "bzip2", "bunzip2"),
    ("net.onnx.xz", lzma.compress(MODEL), "xz", "unxz"),
    ("net.zip", archive("readme.md", "models/net.onnx"), "zip archive", "models/net.onnx"),
    ("cut.zip", archive("models/net.onnx")[:40], "damaged zip", "again"),
    ("net.npy", array_file(np.save), "NumPy array", "weights"),
    ("net.npz", array_file(np.savez), "NumPy arrays", "weights"),
    ("net.tar", tarred(), "tar archive", "Extract"),
    ("net.xml", b'<?xml version="1.0"?>\n<net name="n" version="11">', "OpenVINO", "ONNX file"),
    ("trees.json", b'{"learner":{"attributes":{}}}', "XGBoost", "onnxmltools"),
    ("trees.txt", b"tree\nversion=v4\nnum_class=1\n", "LightGBM", "onnxmltools"),
    ("net.txt", b'ir_version: 8\nproducer_name: "x"\n', "ONNX model as text", "textproto"),
    ("config.json", b'{"model_type": "bert"}', "JSON", ".onnx file"),
    ("net.pb", b"\x0a\x09\x0a\x01x\x12\x04Relu", "TensorFlow graph", "tf2onnx"),
    ("net.pdmodel", b"\x0a\x09\x0a\x01x\x12\x04relu", "PaddlePaddle", "paddle2onnx"),
    ("notes.onnx", "Überblick\n".encode() * 9, "it is text", "binary ONNX"),
    ("noise.onnx", bytes(range(7, 64)), "cut short", "Export the model again"),
]


@pytest.mark.parametrize("name, data, what, way", FILES, ids=[name for name, *_ in FILES])
def test_the_error_says_what_it_is_and_what_to_do(name: str, data: bytes, what: str, way: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    for given in (path, data):
        if isinstance(given, bytes) and name.endswith((".pb", ".pdmodel")):
            continue  # only the name tells
        with pytest.raises(mlc.InputError, match=what) as found:
            read(given)
        assert way in str(found.value) and "not an ONNX model" in str(found.value)


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").write_bytes(MODEL)
    with pytest.raises(mlc.InputError, match=r"Is a directory.*encoder\.onnx"):
        mlc.compile(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(mlc.InputError, match="--saved-model"):
        read(tmp_path)


def test_a_model_of_any_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "net.pb"
    path.write_bytes(MODEL)
    assert read(path).proto.graph.name == "relu"
