"""The command line as a user meets it, on a small network with an open batch dimension."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_line import RANDOM, Command, X, close, expected

import mlc
from mlc.options import Options
from mlc.pipelines import STAGES
from mlc.pipelines.backends import backend_of


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


@pytest.mark.parametrize("arguments", [[], ["cache"]])
def test_no_arguments_print_the_help(mlc_command: Command, arguments: list[str]) -> None:
    printed = mlc_command(*arguments)
    assert printed.startswith(f"Usage: {' '.join(['mlc', *arguments])}") and "--help" in printed


def test_a_cache_without_models_prints_no_table(
    mlc_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path))
    printed = mlc_command("cache", "list")
    assert printed.startswith("0 compiled models, 0 kernels, 0 objects") and "last used" not in printed


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


@pytest.mark.parametrize("stage", STAGES)
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
    run = "from mlc.tools.opt import main; main(['graph.mlir'])"
    assert python(run).strip() == Path("graph.mlir").read_text().strip()


def test_ir_of_a_stage_goes_to_standard_output_without_a_file(mlc_command: Command, model: Path) -> None:
    assert mlc_command("compile", model, "--emit", "graph", "-o", "-") == mlc_command(
        "compile", model, "--emit", "graph"
    )
    assert not Path("-").exists()


@pytest.mark.parametrize("stage", ["layout", "kernel", "tile"])  # packing before `layout` needs the weights' values
def test_mlc_opt_goes_on_from_the_text_of_a_stage(mlc_command: Command, model: Path, stage: str) -> None:
    wanted = mlc_command("compile", model, "--emit", "loops")
    mlc_command("compile", model, "--emit", stage, "-o", "stage.mlir")
    later = backend_of(Options().target).pipeline(Options())[STAGES.index(stage) : STAGES.index("loops")]
    passes = ",".join(str(each.pipeline_pass_spec()) for _, group in later for each in group)
    command = ["stage.mlir", "--for-target", "cpu", "-p", passes]
    assert python(f"from mlc.tools.opt import main; main({command})").strip() == wanted.strip()


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


@pytest.mark.parametrize("arguments, says", [
    (["compil"], "No such command 'compil'. Did you mean 'compile', 'compare'? See 'mlc --help'."),
    (["cache", "prun"], "Did you mean 'prune'? See 'mlc cache --help'."),
    (["compile"], "Missing argument 'MODEL'"),
    (["run", "m.so", "--threads", "x"], "--threads"),
    (["compile", "m.onnx", "--targte", "cpu"], "Did you mean --target? See 'mlc compile --help'."),
    (["compile", "m.onnx", "--emit", "kernels"], "'kernel'"),
])
def test_usage_errors(mlc_command: Command, arguments: list[str], says: str) -> None:
    """One style: ``mlc: error: …`` on one line."""
    (line,) = mlc_command(*arguments, code=2).splitlines()
    assert line.startswith("mlc: error: ") and says in line


def test_version(mlc_command: Command) -> None:
    assert mlc.__version__ in mlc_command("--version")
    done = subprocess.run([sys.executable, "-m", "mlc", "--version"], capture_output=True, text=True, check=True)
    assert mlc.__version__ in done.stdout


def test_a_warm_compile_needs_neither_xdsl_nor_islpy_nor_onnx(model: Path) -> None:
    mlc.compile(model)
    python(
        f"import sys, mlc; mlc.compile({str(model)!r})\n"
        "assert not {'xdsl', 'islpy', 'onnx', 'typer', 'rich'} & set(sys.modules), sorted(sys.modules)"
    )


def test_the_runtime_alone_needs_numpy_alone() -> None:
    python("import sys, mlc.runtime; assert not {'xdsl', 'islpy', 'onnx', 'typer', 'rich'} & set(sys.modules)")
    python(
        "import sys, mlc.runtime\n"
        "mlc.runtime.load\n"
        "rest = {n for n in sys.modules if n.split('.')[0] == 'mlc' and not n.startswith('mlc.runtime')}\n"
        "assert rest == {'mlc', 'mlc.errors', 'mlc.expressions'}, rest"
    )


def test_bytes_and_protos_compile_as_files_do(model: Path) -> None:
    wanted = expected(model, X)
    for given in (model.read_bytes(), onnx.load(model), str(model)):
        assert close(mlc.compile(given)(X), wanted)


@pytest.mark.parametrize("numerics", ["strict", "default", "relaxed"])
def test_numerics_and_threads(model: Path, numerics: str) -> None:
    one, two = (mlc.compile(model, numerics=numerics, threads=n)(X) for n in (1, 2))  # type: ignore[arg-type]
    assert close(one, expected(model, X))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize(
    "option, steps, closing", [("-v", True, True), ("--quiet", False, False), ("--debug", False, True)]
)
def test_what_a_compilation_says(model: Path, tmp_path: Path, option: str, steps: bool, closing: bool) -> None:
    """On stderr: every step or none, and a closing line; results on stdout stay."""
    command = [sys.executable, "-m", "mlc", "compile", str(model), "-o", str(tmp_path / "a.so"), option]
    done = subprocess.run(command, env={**os.environ, "MLC_CACHE_DIR": ""}, capture_output=True, text=True, check=True)
    assert ("s  schedule.choose-schedule\n" in done.stderr) == steps
    assert ("compiled in " in done.stderr) == closing
    assert [line.split()[0] for line in done.stdout.splitlines()] == [str(tmp_path / "a.h"), str(tmp_path / "a.so")]
