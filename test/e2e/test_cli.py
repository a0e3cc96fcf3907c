"""The command line as a user meets it, on a small network with an open batch dimension."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc.cli import main
from mlc.options import Options
from mlc.pipeline import cpu_passes, stages

Command = Callable[..., str]
RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((3, 20)).astype(np.float32)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """x[batch, 20] -> Gemm -> Relu -> MatMul -> Softmax -> y[batch, 7]."""
    arrays = {"w1": (20, 33), "b1": (33,), "w2": (33, 7)}
    weights = [numpy_helper.from_array(RANDOM.standard_normal(s).astype(np.float32), n) for n, s in arrays.items()]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="first"),
        helper.make_node("Relu", ["h"], ["r"], name="act"),
        helper.make_node("MatMul", ["r", "w2"], ["z"], name="second"),
        helper.make_node("Softmax", ["z"], ["y"], name="soft", axis=-1),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 20])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 7])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    path = tmp_path_factory.mktemp("model") / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    """One cache for the tests of this file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("MLC_DEBUG", raising=False)
        yield


@pytest.fixture
def mlc_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command line in an empty folder; returns what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path, code: int = 0) -> str:
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert (caught.value.code or 0) == code, output.err
        return output.out

    return run


def expected(model: Path, x: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def close(actual: np.ndarray, wanted: np.ndarray) -> bool:
    return actual.shape == wanted.shape and bool(np.abs(actual - wanted).max() <= 1e-5 * np.abs(wanted).max())


def python(code: str) -> str:
    """Output of a fresh interpreter."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_compile_then_run(mlc_command: Command, model: Path) -> None:
    mlc_command("compile", model)
    assert sorted(os.listdir()) == ["net.h", "net.so"]
    np.save("x.npy", X)
    assert "y: float32[3, 7]" in mlc_command("run", "net.so", "-i", "x=x.npy", "-o", "out.npz")
    assert close(np.load("out.npz")["y"], expected(model, X))


def test_one_library_serves_every_batch(mlc_command: Command, model: Path) -> None:
    mlc_command("compile", model, "-o", "other.so", "--no-embed-weights")
    assert sorted(os.listdir()) == ["other.h", "other.so", "other.weights"]
    net = mlc.load("other.so")
    for batch in (1, 3, 17):
        x = RANDOM.standard_normal((batch, 20)).astype(np.float32)
        assert close(net(x), expected(model, x))


def test_a_fixed_dimension(mlc_command: Command, model: Path) -> None:
    mlc_command("compile", model, "--dim", "batch=3")
    net = mlc.load("net.so")
    assert net.inputs["x"].shape == (3, 20)
    assert close(net(X), expected(model, X))
    with pytest.raises(mlc.RunError):
        net(X[:2])


@pytest.mark.parametrize("embed", ["--embed-weights", "--no-embed-weights"])
def test_the_same_input_gives_the_same_bytes(
    mlc_command: Command, model: Path, embed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", "")
    for folder in ("one", "two"):
        Path(folder).mkdir()
        mlc_command("compile", model, "-o", folder, embed)
    names = sorted(os.listdir("one"))
    assert names == sorted(os.listdir("two")) and len(names) >= 2
    assert all(Path("one", name).read_bytes() == Path("two", name).read_bytes() for name in names)


@pytest.mark.parametrize("stage", stages())
def test_every_stage_can_be_printed(mlc_command: Command, model: Path, stage: str) -> None:
    text = mlc_command("compile", model, "--emit", stage)
    assert ("mlc_program" if stage == "code" else "builtin.module") in text
    assert os.listdir() == []


def test_dumps_are_numbered_and_times_are_shown(mlc_command: Command, model: Path) -> None:
    printed = mlc_command("compile", model, "--dump-ir", "ir", "--time-passes", "--verify-each")
    names = sorted(os.listdir("ir"))
    assert [name.partition("-")[0] for name in names] == [f"{i:03d}" for i in range(len(names))]
    assert len(names) >= 9 and "total" in printed


def test_ir_of_a_stage_goes_through_mlc_opt(mlc_command: Command, model: Path) -> None:
    mlc_command("compile", model, "--emit", "graph", "-o", "graph.mlir")
    run = "from mlc.opt import main; main(['graph.mlir'])"
    assert python(run).strip() == Path("graph.mlir").read_text().strip()


def test_ir_of_a_stage_goes_to_standard_output_without_a_file(mlc_command: Command, model: Path) -> None:
    assert mlc_command("compile", model, "--emit", "graph", "-o", "-") == mlc_command(
        "compile", model, "--emit", "graph"
    )
    assert not Path("-").exists()


@pytest.mark.parametrize("stage", ["graph", "kernel", "tile"])
def test_mlc_opt_goes_on_from_the_text_of_a_stage(mlc_command: Command, model: Path, stage: str) -> None:
    wanted = mlc_command("compile", model, "--emit", "loops")
    mlc_command("compile", model, "--emit", stage, "-o", "stage.mlir")
    later = cpu_passes(Options())[stages().index(stage) : stages().index("loops")]
    passes = ",".join(str(each.pipeline_pass_spec()) for _, group in later for each in group)
    assert python(f"from mlc.opt import main; main(['stage.mlir', '-p', {passes!r}])").strip() == wanted.strip()


def test_bench(mlc_command: Command, model: Path) -> None:
    printed = mlc_command("bench", model, "--seconds", "0.05", "--dim", "batch=4", "--profile")
    assert "median" in printed and "p99" in printed
    assert "GFLOP/s" in printed and "first" in printed


def test_inspect_without_a_cache(mlc_command: Command, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", "")
    assert json.loads(mlc_command("inspect", model, "--json"))["name"] == "net"


def test_inspect(mlc_command: Command, model: Path) -> None:
    printed = mlc_command("inspect", model)
    assert "Gemm 1" in printed and "x  float32[batch, 20]" in printed and "y  float32[batch, 7]" in printed
    mlc_command("compile", model)
    signature = json.loads(mlc_command("inspect", "net.so", "--json"))
    assert signature["dims"] == ["batch"]
    nodes = {node for kernel in signature["kernels"] for node in kernel["nodes"]}
    assert {"first", "second", "soft"} <= nodes
    assert mlc_command("inspect", "net.so").splitlines()[0].startswith("model      net")


def test_check_and_cache(mlc_command: Command, model: Path) -> None:
    assert "every operator is supported" in mlc_command("check", model)
    mlc_command("compile", model)
    assert "hit" in mlc_command("cache", "why", model)
    assert "numerics" in mlc_command("cache", "why", model, "--numerics", "strict")
    assert "net" in mlc_command("cache", "list")
    assert "MB removed" in mlc_command("cache", "prune", "--limit", "1000")


@pytest.mark.parametrize("command", ["compile", "run", "bench", "inspect", "check"])
def test_help_has_examples(mlc_command: Command, command: str) -> None:
    assert f"  mlc {command} model" in mlc_command(command, "--help") or command == "compile"


def test_usage_errors(mlc_command: Command) -> None:
    assert mlc.__version__ in mlc_command("--version")
    for arguments in (
        ["nonsense"],
        ["compile"],
        ["run", "m.so", "--threads", "x"],
        ["compile", "m.onnx", "--nonsense"],
    ):
        mlc_command(*arguments, code=2)


def test_a_warm_compile_needs_neither_xdsl_nor_islpy_nor_onnx(model: Path) -> None:
    mlc.compile(model)
    python(
        f"import sys, mlc; mlc.compile({str(model)!r})\n"
        "assert not {'xdsl', 'islpy', 'onnx', 'typer', 'rich'} & set(sys.modules), sorted(sys.modules)"
    )


def test_the_runtime_alone_needs_numpy_alone() -> None:
    python("import sys, mlc.runtime; assert not {'xdsl', 'islpy', 'onnx', 'typer', 'rich'} & set(sys.modules)")


def test_bytes_and_protos_compile_as_files_do(model: Path) -> None:
    wanted = expected(model, X)
    for given in (model.read_bytes(), onnx.load(model), str(model)):
        assert close(mlc.compile(given)(X), wanted)


@pytest.mark.parametrize("numerics", ["strict", "default", "relaxed"])
def test_numerics_and_threads(model: Path, numerics: str) -> None:
    one, two = (mlc.compile(model, numerics=numerics, threads=n)(X) for n in (1, 2))  # type: ignore[arg-type]
    assert close(one, expected(model, X))
    assert one.tobytes() == two.tobytes()
