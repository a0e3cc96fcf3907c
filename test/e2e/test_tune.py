"""``mlc tune`` on a small model: what it finds is used, what it may not find is not. No test depends on a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc.cli import main
from mlc.tuning import tuner
from mlc.tuning.measure import gain
from mlc.tuning.store import Store

Command = Callable[..., str]
RANDOM = np.random.default_rng(3)
WEIGHT = RANDOM.standard_normal((20, 40)).astype(np.float32)
X = RANDOM.standard_normal((7, 20)).astype(np.float32)


def net(name: str, last: str) -> onnx.ModelProto:
    """x[batch, 20] -> MatMul -> Softmax -> ``last`` -> y[batch, 40]."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Softmax", ["h"], ["s"], axis=-1),
        helper.make_node(last, ["s"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 20])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 40])]
    graph = helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(WEIGHT, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def expected() -> np.ndarray:
    e = np.exp(X.astype(np.float64) @ WEIGHT)
    return np.sqrt(e / e.sum(-1, keepdims=True))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two candidates a kernel and few pairs: the budgets below are never used up."""
    monkeypatch.setattr(tuner, "CANDIDATES", 2)
    monkeypatch.setattr(tuner, "PAIRS_SECONDS", 0.0)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model in an empty folder, with a cache of its own."""
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    onnx.save(net("net", "Sqrt"), "net.onnx")
    return Path("net.onnx")


@pytest.fixture
def lucky(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every candidate seems faster than the chosen schedule, the first of a kernel the most."""
    saved: Iterator[float] = (0.5 / n for n in range(1, 10**6))
    monkeypatch.setattr(tuner, "gain", lambda ratios: next(saved))


@pytest.fixture
def mlc_command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str | Path, code: int = 0) -> str:
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert (caught.value.code or 0) == code, output.err
        return output.out if code == 0 else output.out + output.err

    return run


def test_winners_are_used_by_every_compilation(mlc_command: Command, model: Path, lucky: None) -> None:
    untuned = mlc_command("inspect", model, "--schedules")
    for folder in ("before", "after"):
        Path(folder).mkdir()
    mlc_command("compile", model, "-o", "before")
    report = mlc_command("tune", model, "--budget", "200", "--at", "batch=7", "-o", "mine")
    assert "kernels are faster" in report
    tuned = mlc_command("inspect", model, "--schedules")
    assert "# tuned" in tuned and "# tuned" not in untuned and "# tuned" in mlc_command("inspect", model)
    lines = [line.partition("  # ")[0] for line in tuned.splitlines() if line.endswith("# tuned")]
    assert sorted(lines) == sorted(Path("mine").read_text().splitlines())  # there those that take most time come first
    assert mlc_command("inspect", model, "--schedules", "--no-tuned") == untuned
    np.testing.assert_allclose(mlc.compile("net.onnx")(X), expected(), rtol=0, atol=1e-6)
    other = mlc.compile(net("other", "Neg"))  # shares the first kernel alone
    flags = [kernel.get("tuned", False) for kernel in other.signature["kernels"]]
    assert flags[0] and len(flags) == 2

    mlc_command("compile", model, "--no-tuned", "-o", "after")
    mlc_command("compile", model, "--numerics", "strict", "-o", "strict.so")
    assert Path("before/net.so").read_bytes() == Path("after/net.so").read_bytes()
    assert "# tuned" not in mlc_command("inspect", "strict.so")
    mlc_command("compile", model, "--no-tuned", "--schedule", "mine", "-o", "given.so")
    assert "# tuned" not in mlc_command("inspect", "given.so")
    assert all(line in mlc_command("inspect", "given.so", "--schedules") for line in lines)


def test_the_cache_knows_what_applies(mlc_command: Command, model: Path, lucky: None) -> None:
    mlc_command("compile", model)
    assert "hit" in mlc_command("cache", "why", model)
    mlc_command("tune", model, "--budget", "200")
    assert "tuned" in mlc_command("cache", "why", model)
    mlc_command("compile", model)
    assert "hit" in mlc_command("cache", "why", model)
    assert "hit" in mlc_command("cache", "why", model, "--no-tuned")
    assert re.search(r"\d tuned schedules", mlc_command("cache", "list"))
    assert "net" in mlc_command("cache", "tuned")
    mlc_command("cache", "clear")
    assert "net" in mlc_command("cache", "tuned")
    assert re.match(r"\d tuned schedules removed", mlc_command("cache", "clear", "--tuned"))
    mlc_command("compile", model)
    assert "# tuned" not in mlc_command("inspect", model)


def test_another_model_s_schedules_leave_the_cache_alone(mlc_command: Command, model: Path, lucky: None) -> None:
    onnx.save(net("other", "Exp"), "other.onnx")
    mlc_command("compile", "other.onnx", "--dim", "batch=2")
    mlc_command("tune", model, "--budget", "200")
    assert "hit" in mlc_command("cache", "why", "other.onnx", "--dim", "batch=2")


def test_without_a_gain_nothing_changes(
    mlc_command: Command, model: Path, monkeypatch: pytest.MonkeyPatch, lucky: None
) -> None:
    monkeypatch.setattr(tuner, "gain", lambda ratios: 0.0)
    assert "0 of 2 kernels" in mlc_command("tune", model, "--budget", "200")
    assert "# tuned" not in mlc_command("inspect", model)


def test_an_interrupt_keeps_what_was_found(
    mlc_command: Command, model: Path, monkeypatch: pytest.MonkeyPatch, lucky: None
) -> None:
    rounds = tuner.Tuner._round

    def second_is_interrupted(self: tuner.Tuner, trial: dict[str, str]) -> None:
        if self.found.rounds == 1:
            raise KeyboardInterrupt
        rounds(self, trial)

    monkeypatch.setattr(tuner.Tuner, "_round", second_is_interrupted)
    assert "not confirmed" in mlc_command("tune", model, "--budget", "200", code=130)
    assert "# tuned" in mlc_command("inspect", model)


def test_the_python_interface(model: Path) -> None:
    found = mlc.tune("net.onnx", seconds=200, threads=1, inputs={"x": X})
    assert {kernel.tried > 0 for kernel in found.kernels} == {True}
    assert [line.partition(": ")[2] for line in found.text().splitlines()] == list(found.tuned.values())
    kept = [tuned.schedule for _, known in Store.default().machines() for tuned in known.values()]
    assert sorted(kept) == sorted(found.tuned.values())
    np.testing.assert_allclose(mlc.compile("net.onnx", threads=1)(X), expected(), rtol=0, atol=1e-6)


def test_refusals(mlc_command: Command, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "-o FILE" in mlc_command("tune", model, "--target", "x86-64", code=2)
    assert "strict" in mlc_command("tune", model, "--numerics", "strict", code=2)
    assert "--at batch=8" in mlc_command("tune", model, "--at", "batch", code=2)
    assert "Cannot read the model" in mlc_command("tune", "absent.onnx", code=2)
    monkeypatch.setenv("MLC_CACHE_DIR", "")
    assert "no cache" in mlc_command("tune", model, code=2)


def test_a_schedule_that_became_illegal_says_what_to_do(
    mlc_command: Command, model: Path, lucky: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlc_command("tune", model, "--budget", "200")
    schedules = Store.schedules
    broken = {"schedule": "contraction: S0 | m n/3 | k"}
    monkeypatch.setattr(
        Store, "schedules", lambda *a: {k: tuner.Tuned(**{**vars(t), **broken}) for k, t in schedules(*a).items()}
    )
    assert "mlc cache clear --tuned" in mlc_command("compile", model, code=2)


def test_a_gain_is_more_than_margin_and_noise() -> None:
    assert gain([0.9] * 8) == pytest.approx(0.1)
    assert gain([0.98] * 8) == 0
    assert gain([1.2] * 8) == 0
    assert gain([0.5, 1.6, 0.6, 0.9, 1.5, 0.8]) == 0  # half of it noise
