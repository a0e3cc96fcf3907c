"""The way from a model to an artifact, with a handwritten model in the place of frontend and pipeline."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny

import mlc
from mlc.api import make_options, open_built
from mlc.cli import main
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.cache.explain import explain
from mlc.driver.compile import compile_source
from mlc.driver.instrument import Instrument
from mlc.driver.onnx_source import OnnxSource
from mlc.errors import InternalError, OutputError
from mlc.tools.instruments import Timer

X = np.random.default_rng(3).standard_normal((4, 3)).astype(np.float32)


class FakePipeline:
    """Counts its runs; ``fail`` is raised by the pass ``graph.break`` of the next ones."""

    def __init__(self) -> None:
        self.runs = 0
        self.fail: Exception | None = None

    def lower(
        self,
        module: Any,
        weights: Any,
        options: mlc.Options,
        until: str | None,
        instruments: Sequence[Instrument],
        cache: Cache | None,
    ) -> tiny.TinyLowered:
        self.runs += 1
        for instrument in instruments:
            instrument.before("graph.break", module, weights)
        if self.fail:
            raise self.fail
        for instrument in instruments:
            instrument.after("graph.break", module, weights)
        return tiny.lowered(options.embeds(len(tiny.WEIGHTS.tobytes())), "")


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> FakePipeline:
    from xdsl.dialects.builtin import ModuleOp

    fake = FakePipeline()
    module: Any = ModuleType("mlc.driver.lower")
    module.lower = fake.lower
    frontend: Any = ModuleType("mlc.frontends.onnx")
    frontend.external_files = lambda path: ()
    frontend.import_model = lambda model, dims, cache=0: SimpleNamespace(module=ModuleOp([]), weights=None, name="tiny")
    monkeypatch.setitem(sys.modules, "mlc.driver.lower", module)
    monkeypatch.setitem(sys.modules, "mlc.frontends.onnx", frontend)
    return fake


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "tiny.onnx").write_bytes(b"not read by the fake frontend")
    return tmp_path / "tiny.onnx"


def command(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    return int(caught.value.code or 0)


def test_the_second_compilation_comes_from_the_cache(pipeline: FakePipeline, model: Path) -> None:
    for _ in range(2):
        np.testing.assert_allclose(mlc.compile(model)(X), tiny.reference(X), rtol=1e-6)
    assert pipeline.runs == 1
    mlc.compile(model, threads=1)
    assert pipeline.runs == 1
    mlc.compile(model, numerics="strict")
    mlc.compile(model, dims={"n": 4})
    assert pipeline.runs == 3


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(["numpy", "cffi", "onnx", "xdsl", "islpy"]))  # None: importing one is an error
from mlc.cli import main
main(sys.argv[1:])
"""


def test_an_artifact_comes_from_the_cache_without_numpy(pipeline: FakePipeline, model: Path, tmp_path: Path) -> None:
    library = tmp_path / "net.so"
    assert command("compile", model, "-o", library) == 0
    library.unlink()
    arguments = [sys.executable, "-c", WITHOUT, "compile", str(model), "-o", str(library)]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0 and "taken from the cache" in done.stderr, done.stderr
    np.testing.assert_allclose(mlc.load(library)(X), tiny.reference(X), rtol=1e-6)


def test_a_damaged_artifact_is_compiled_again(pipeline: FakePipeline, model: Path, own_cache: Path) -> None:
    mlc.compile(model)
    (library,) = own_cache.glob("artifacts/*/*/tiny.so")
    library.write_bytes(library.read_bytes()[:-100])
    with pytest.warns(RuntimeWarning, match="damaged"):
        np.testing.assert_allclose(mlc.compile(model)(X), tiny.reference(X), rtol=1e-6)
    assert pipeline.runs == 2


@pytest.mark.parametrize("blocked", ["off", "file in the way"])
def test_without_a_usable_cache_all_works(
    pipeline: FakePipeline, model: Path, tmp_path: Path, blocked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", "" if blocked == "off" else str(model))
    monkeypatch.setattr(sys.modules["tempfile"], "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with pytest.warns(RuntimeWarning) if blocked != "off" else nullcontext():
        net = mlc.compile(model, embed_weights=False)
    np.testing.assert_allclose(net(X), tiny.reference(X), rtol=1e-6)
    net.save(tmp_path / "saved.so")
    del net
    assert list((tmp_path / "temporary").iterdir()) == []
    np.testing.assert_allclose(mlc.load(tmp_path / "saved.so")(X), tiny.reference(X), rtol=1e-6)


def test_a_disk_that_is_full_everywhere_is_an_output_error(
    pipeline: FakePipeline, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mlc.driver.artifact.write_artifact.write", full)
    with pytest.raises(OutputError, match="No space left"):
        mlc.compile(model)


def test_a_bug_leaves_a_reproducer(
    pipeline: FakePipeline, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["tempfile"], "tempdir", str(tmp_path))
    pipeline.fail = KeyError("lost")
    with pytest.raises(InternalError, match=r"in the pass break: KeyError: 'lost' \(stage 'graph'\)"):
        mlc.compile(model)
    (folder,) = tmp_path.glob("mlc-reproducer-*")
    assert {p.name for p in folder.iterdir()} == {"traceback.txt", "options.json", "before-break.mlir", "command.txt"}
    assert "builtin.module" in (folder / "before-break.mlir").read_text()


def test_misses_are_explained(pipeline: FakePipeline, model: Path) -> None:
    source = OnnxSource.of(model)
    assert explain(source, make_options()) == ["cache: nothing is known of tiny yet"]
    compile_source(source, make_options())
    assert explain(source, make_options())[0].startswith("cache: hit")
    (line,) = explain(source, make_options(numerics="strict"))
    assert line.endswith('options.numerics: "default" -> "strict"')
    model.write_bytes(b"changed")
    assert any("model:" in line for line in explain(OnnxSource.of(model), make_options()))


def test_instruments_see_every_step(pipeline: FakePipeline, model: Path) -> None:
    timer = Timer()
    built = compile_source(OnnxSource.of(model), make_options(), [timer])
    assert [step.name for step in timer.steps] == ["import", "graph.break", "code.compile"]
    assert list(timer.stages()) == ["import", "graph", "code"]
    assert open_built(built).name == "tiny"


def test_the_compile_command(
    pipeline: FakePipeline,
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert command("compile", model) == 0
    assert sorted(os.listdir()) == ["tiny.h", "tiny.so"]
    assert command("compile", model, "-o", "other.so", "--no-embed-weights", "--time-passes") == 0
    assert {"other.h", "other.so", "other.weights"} <= set(os.listdir())
    assert "break" in capsys.readouterr().out
    assert command("compile", model, "--emit", "graph", "--dump-ir", "ir") == 0
    assert "builtin.module" in capsys.readouterr().out
    assert os.listdir("ir") == ["000-graph.break.mlir"]
    assert command("compile", model, "--emit", "code", "-o", "code.c") == 0
    assert "mlc_program tiny_program" in Path("code.c").read_text()
    assert command("compile", model, "--emit", "nonsense") == 2
    assert "'import', 'graph', 'layout'" in capsys.readouterr().err


def test_the_other_commands(
    pipeline: FakePipeline, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", X)
    assert command("run", model, "-i", f"x={tmp_path / 'x.npy'}", "-o", tmp_path / "out.npz") == 0
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], tiny.reference(X), rtol=1e-6)
    assert "y: float32[4, 3]" in capsys.readouterr().out
    assert command("run", model, "--random", "1", "--dim", "n=7") == 0
    assert "y: float32[7, 3]" in capsys.readouterr().out
    assert command("bench", model, "--seconds", "0.01", "--dim", "n=50", "--profile") == 0
    out = capsys.readouterr().out
    assert "p99" in out and "n0, n1" in out and "rows" in out
    (library,) = Path(os.environ["MLC_CACHE_DIR"]).glob("artifacts/*/*/tiny.so")
    assert command("inspect", library) == 0
    out = capsys.readouterr().out
    assert "float32[n, 3]" in out and "1 kernels, 1 launches" in out
    assert command("inspect", library, "--json") == 0 and '"abi": 2' in capsys.readouterr().out
    assert command("cache", "list") == 0 and "tiny" in capsys.readouterr().out
    assert command("cache", "why", model) == 0 and "hit" in capsys.readouterr().out
    assert command("cache", "prune", "--limit", "0") == 0 and "0.0 MB removed" not in capsys.readouterr().out
    assert command("cache", "clear") == 0


def test_errors_are_one_message_unless_debugging(
    pipeline: FakePipeline, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("compile", model, "--target", "z80") == 2
    err = capsys.readouterr().err
    assert err.startswith("mlc: error: Unknown target 'z80'") and "Traceback" not in err
    with pytest.raises(mlc.InputError):
        main(["compile", str(model), "--target", "z80", "--debug"])
    assert command("compile") == 2 and command("nonsense") == 2
    assert command("run", model, "--dim", "n=x") == 2
