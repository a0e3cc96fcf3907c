"""Names of a model on the terminal: no escape sequence gets there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import mlc
from mlc.errors import InputError

BAD = "\x1b[31mred\x1b]0;title\x07\u202e\x9b2J"
COMMANDS = [
    "inspect {m}", "check {m}", "compile {m} -v --time-passes -o {so}", "inspect {so}", "run {so} --random 1",
    "run {so}", "bench {so} --profile", "run {so} -i zz=1", "check {bad}", "compile {bad}", "compile {m} --dim zz=3",
    "compile {m} --emit kernel",
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("hostile")
    made = {"m": folder / "m.onnx", "bad": folder / "bad.onnx", "so": folder / "m.so"}
    onnx.save(model("Relu", ""), made["m"])
    onnx.save(model(f"Nope{BAD}", f"domain{BAD}"), made["bad"])
    return made


def model(op: str, domain: str) -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(f"{n}{BAD}", TensorProto.FLOAT, [f"d{BAD}", 3]) for n in "xy")
    node = helper.make_node(op, [x.name], [y.name], f"node{BAD}", domain=domain)
    graph = helper.make_graph([node], f"graph{BAD}", [x], [y])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(f"domain{BAD}", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def test_no_command_prints_escape_sequences(files: dict[str, Path]) -> None:
    for command in COMMANDS:
        arguments = command.format(**files).split()
        result = subprocess.run([sys.executable, "-m", "mlc", *arguments], capture_output=True, text=True)
        text = result.stdout + result.stderr
        assert text and not any(mark in text for mark in ("\x1b", "\x07", "\u202e", "\x9b")), command


def test_errors_and_descriptions_have_none() -> None:
    with pytest.raises(InputError) as error:
        mlc.compile(model(f"Nope{BAD}", f"domain{BAD}"))
    net = mlc.compile(model("Relu", ""))
    assert "\x1b" not in str(error.value) + repr(net) + net._repr_html_() and r"\u001b[31mred" in str(error.value)
