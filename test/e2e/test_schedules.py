"""Schedules that a user writes: any legal one computes the same, any other is an error that names kernel and line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc.cli import main
from mlc.errors import InputError

RANDOM = np.random.default_rng(5)
WEIGHT = RANDOM.standard_normal((20, 33)).astype(np.float32)
BIAS = RANDOM.standard_normal(33).astype(np.float32)
X = RANDOM.standard_normal((7, 20)).astype(np.float32)


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    """x[batch, 20] -> Gemm -> Relu -> Softmax -> y[batch, 33]: two kernels."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="gemm"),
        helper.make_node("Relu", ["h"], ["r"], name="relu"),
        helper.make_node("Softmax", ["r"], ["y"], name="softmax", axis=-1),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 20])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 33])]
    weights = [numpy_helper.from_array(WEIGHT, "w"), numpy_helper.from_array(BIAS, "b")]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def expected() -> np.ndarray:
    hidden = np.maximum(X.astype(np.float64) @ WEIGHT + BIAS, 0)
    e = np.exp(hidden - hidden.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.fixture(scope="module")
def kernels(model: onnx.ModelProto) -> dict[str, str]:
    """The names of the two kernels."""
    return dict(zip(("GEMM", "SOFTMAX"), [k["name"] for k in mlc.compile(model).signature["kernels"]], strict=True))


def compiled(
    model: onnx.ModelProto, kernels: dict[str, str], folder: Path, text: str, dims: dict[str, int] | None = None
) -> mlc.Model:
    for word, name in kernels.items():
        text = text.replace(f"{word}:", f"{name}:")
    path = folder / "schedules"
    path.write_text(text)
    return mlc.compile(model, schedule=path, threads=2, dims=dims)


@pytest.mark.parametrize(
    "line",
    [
        "GEMM: mine: S0 S1 | m n/16v | k",
        "GEMM: mine: S0 S1 | n/3v m/2+1 | k",
        "GEMM: mine: S0 S1 | n m/4+1 | k",
        "GEMM: mine: S0 S1 | n/11 m/4v | k/7s",
        "GEMM: mine: S0 S1 | m n | k/16v",
        "GEMM: mine: S0 S1 | m | n/16v k",
        "GEMM: mine: S0 S1 | n@3 m/4+1 n/8v | k",
        "GEMM: mine: S0 S1 | n@3t m/4+1 n/8v | k",  # 8 + 3 columns in each block
        "GEMM: mine: S0 S1 | n@3t m n/5*1+3*2 | k/7s",
        "GEMM: mine: S0 S1 | n@2t m/4+1 n/8v | k",  # 17 columns, then 16
        "SOFTMAX: mine: S0 S1 S2 S3 S4 | i0 | i1",
        "SOFTMAX: mine: S0 S1 S2 S3 S4 | i0/2+1 | i1",
        "SOFTMAX: serial: S0 | i0 | i1; serial: S1 S2 S3 S4 | i0 | i1",  # an array between of symbolic extent: scratch
    ],
)
def test_legal_schedules_compute_the_same(
    model: onnx.ModelProto, kernels: dict[str, str], tmp_path: Path, line: str
) -> None:
    net = compiled(model, kernels, tmp_path, f"# by hand\n\n{line}  # a comment\n")
    word, _, schedule = line.partition(": ")
    assert schedule in [k["schedule"] for k in net.signature["kernels"] if k["name"] == kernels[word]]
    np.testing.assert_allclose(net(X), expected(), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "schedule",
    [
        "mine: S0 | m@7 m n/16v | k & mine: S1 | m@7 m n | ",  # the array between has no axis m
        "mine: S0 | n@33 m n | k & mine: S1 | n@33 m/7v n | ",
        "mine: S0 | n@3 m n/11v | k & mine: S1 | n@3 n m/4+3 | ",  # the array is whole
        "mine: S0 | n@3 m/4+3 n/11 | k/7s & mine: S1 | n@3 n/11v m | ",
        "mine: S0 | n@3t n/4*2+3*1 m/4+3 | k/7s & mine: S1 | n@3t m n/8v | ",  # the array has the columns of a block
        "mine: S0 | n@3t m/7v n/6*1+5*1 | k & mine: S1 | n@3 n m/4+3 | ",  # the array is whole
    ],
)
def test_nests_that_run_in_blocks(
    model: onnx.ModelProto, kernels: dict[str, str], tmp_path: Path, schedule: str
) -> None:
    net = compiled(model, kernels, tmp_path, f"GEMM: {schedule}", {"batch": 7})
    np.testing.assert_allclose(net(X), expected(), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("OTHER: mine: S0 S1 | m n | k", "Kernels are contract_"),
        ("GEMM: mine", "'rule: statements | band | inner'"),
        ("GEMM: mine: S0 S1 | m n/x | k", "'n/x'"),
        ("GEMM: mine: S0 S1 | m n/0 | k", "smaller than 1"),
        ("GEMM: mine: S0 S1 | m n/16*2 | k", "does not cover an extent of 33"),
        ("GEMM: mine: S0 S1 | m n/16v |", "iterators k, m, n once"),
        ("GEMM: mine: S0 S1 | m n/16v | k q", "iterators k, m, n once"),
        ("GEMM: mine: S0 S1 | m/4v n/16v | k", "only one iterator"),
        ("GEMM: mine: S0 | m n/16v | k", "not every statement instance"),
        ("GEMM: mine: S0 S7 | m n/16v | k", "no statement S7"),
        ("GEMM: mine: S1 S0 | m n/16v | k", "keep their order S0 S1"),
        ("GEMM: mine: S0 S1 | m n/16v k |", "k is not one iterator of all of S0, S1"),
        ("GEMM: mine: S0 | m n | k; mine: S1 | m n |", "name them 'serial'"),
        ("GEMM: mine: S0 S1 | m@2 m n/16v | k", "m@2 is no iterator of the band with a constant extent"),
        ("GEMM: mine: S0 S1 | m@2t m n/16v | k", "needs equal blocks, of which the last may be smaller, and m has"),
        ("GEMM: mine: S0 S1 | n@32t m n/16v | k", "needs equal blocks, of which the last may be smaller, and n has 33"),
        ("GEMM: mine: S0 S1 | n@3t m n/11*3 | k", "n/11*3 does not cover an extent of 11"),
        ("GEMM: mine: S0 S1 | n@0 m n/16v | k", "must be first in the band and at least 1"),
        ("GEMM: mine: S0 | n@3 m n | k & mine: S1 | n@2 m n |", "must have blocks (@), and as many"),
        ("GEMM: mine: S0 | n@33 m n | k & mine: S1 | n@33 m n |", "symbolic extent of local array t0"),
        ("GEMM: & mine: S0 S1 | m n/16v | k", "'rule: statements | band | inner'"),
    ],
)
def test_others_name_kernel_and_line(
    model: onnx.ModelProto, kernels: dict[str, str], tmp_path: Path, line: str, words: str
) -> None:
    with pytest.raises(InputError, match="Line 2 of the schedules: .*'(contract_|reduce_|OTHER)") as caught:
        compiled(model, kernels, tmp_path, f"# first\n{line}")
    assert words in str(caught.value)


def test_a_kernel_has_one_line(model: onnx.ModelProto, kernels: dict[str, str], tmp_path: Path) -> None:
    line = "GEMM: mine: S0 S1 | m n/16v | k\n"
    with pytest.raises(InputError, match="Line 2 .* 'contract_.*' has a schedule already"):
        compiled(model, kernels, tmp_path, line + line)


def test_what_inspect_prints_is_read_unchanged(
    model: onnx.ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(model, "net.onnx")

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit, match="0"):
            main(list(arguments))
        return capsys.readouterr().out

    chosen = run("inspect", "net.onnx", "--schedules")
    text = re.sub(r"m/\S+", "m/6+1", chosen)
    assert text != chosen and len(text.splitlines()) == 2
    Path("mine").write_text(text)
    run("compile", "net.onnx", "--schedule", "mine", "-o", "net.so")
    assert run("inspect", "net.so", "--schedules") == text
