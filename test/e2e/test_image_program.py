"""ImageDecoder from the command line and from C."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import image_libraries
import numpy as np
import onnx
from onnx import TensorProto, helper
from PIL import Image

pytestmark = image_libraries.needed


def test_a_photograph_in_c(tmp_path: Path) -> None:
    node = helper.make_node("ImageDecoder", ["x"], ["y"])
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, ["n"])
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, ["h", "w", 3])
    graph = helper.make_graph([node], "decoder", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, tmp_path / "decoder.onnx")
    picture = np.random.default_rng(5).integers(0, 256, (11, 14, 3)).astype(np.uint8).repeat(5, 0).repeat(3, 1)
    Image.fromarray(picture).save(tmp_path / "photo.jpeg", quality=85)
    mlc = [sys.executable, "-c", "from mlc.cli import main; main()"]
    subprocess.run([*mlc, "check", "decoder.onnx"], cwd=tmp_path, check=True)
    subprocess.run([*mlc, "compile", "decoder.onnx", "-o", "decoder.so"], cwd=tmp_path, check=True)
    source = Path(__file__).with_name("image_program.c")
    command = ["cc", "-std=c11", "-Wall", "-Werror", "-I.", str(source), "./decoder.so", "-o", "decode"]
    subprocess.run([*command, "-Wl,-rpath,$ORIGIN"], cwd=tmp_path, check=True)
    found = subprocess.run(["./decode", "photo.jpeg"], cwd=tmp_path, check=True, capture_output=True).stdout
    head, _, pixels = found.partition(b"\n")
    assert head == b"55 42"
    right = np.asarray(Image.open(tmp_path / "photo.jpeg"))
    np.testing.assert_array_equal(np.frombuffer(pixels, np.uint8).reshape(55, 42, 3), right)
