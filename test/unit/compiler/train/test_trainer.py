"""The training loop: what it learns, what it resumes, what it refuses, and where NaN come from."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import mlc
import mlc.numpy as mnp
from mlc import nn, optim, train
from mlc.errors import InputError, OutputError, RunError
from mlc.frontends.array import trees
from mlc.train.watch import origin

sys.path.insert(0, str(Path(__file__).parents[3] / "fuzz"))
import kill_training  # noqa: E402

X = np.random.Generator(np.random.Philox(5)).standard_normal((64, 3)).astype(np.float32)
Y = X @ np.array([1.0, -2.0, 0.5], np.float32) + 3


def loss(model: Any, x: Any, y: Any) -> Any:
    return nn.mse_loss(model(x)[:, 0], y)


def same(a: Any, b: Any) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(trees.leaves(a), trees.leaves(b), strict=True))


def test_a_regression_is_learnt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss)
    trainer.fit(train.ArrayData((X, Y), 16), 200, callback=lambda n, _: seen.append(n))
    np.testing.assert_allclose(trainer.model.weight, [[1, -2, 0.5]], atol=1e-3)
    np.testing.assert_allclose(trainer.model.bias, [3], atol=1e-3)
    assert seen == list(range(1, 201)) and trainer.step == 200 and "200/200" in capsys.readouterr().out
    assert trainer.history[0][1]["loss"] > 1 > trainer.history[-1][1]["loss"]
    trainer.fit([(X[:16], Y[:16])], 201, progress=False)
    with pytest.raises(InputError, match="data ends after 202 steps"):
        trainer.fit(iter([(X[:16], Y[:16])] * 202), 300, progress=False)


def test_resumed_runs_have_the_same_bits(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    saved = train.Checkpoints(tmp_path, every=2, keep=2)
    whole = kill_training.trainer().fit(kill_training.data(), 12, progress=False)
    kill_training.trainer().fit(kill_training.data(), 7, checkpoints=saved, progress=False)
    assert saved.steps() == [6, 7]
    resumed = kill_training.trainer().fit(kill_training.data(), 12, checkpoints=tmp_path, progress=False)
    assert [n for n, _ in resumed.history] == [8, 9, 10, 11, 12]
    assert same(resumed.state, whole.state)
    other = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss)
    with pytest.raises(InputError, match="of another model or optimizer: optimizer"):
        saved.load(other.state)
    with pytest.raises(InputError, match="no checkpoint of step 3"):
        saved.load(whole.state, step=3)


def test_killed_runs_lose_at_most_a_step(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    command = [sys.executable, kill_training.__file__, "--kills", "5", "--seconds", "60", "--longest", "0.8"]
    environment = os.environ | {"MLC_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200)
    assert re.match(r"5 kills in .*: nothing lost, the same bits", done.stdout), done.stdout + done.stderr


def test_an_unfinished_checkpoint_is_none(tmp_path: Path) -> None:
    (tmp_path / ".step-000000009.safetensors.x").write_bytes(b"half")
    assert train.Checkpoints(tmp_path).steps() == [] and not list(tmp_path.iterdir())


def test_logs_for_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event

    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss)
    trainer.fit(train.ArrayData((X, Y), 16), 3, log_dir=tmp_path / "logs", progress=False)
    (path,) = (tmp_path / "logs").iterdir()
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        event = Event.FromString(data[at + 12 : at + 12 + size])
        found += [(event.step, v.simple_value) for v in event.summary.value if v.tag == "loss"]
        at += 16 + size
    expected = [(n, metrics["loss"]) for n, metrics in trainer.history]
    assert [n for n, _ in found] == [1, 2, 3] and np.allclose(found, expected)


def test_nan_names_operator_and_line() -> None:
    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), lambda m, x, y: mnp.mean(mnp.log(m(x))) + 0 * mnp.mean(y))
    before = trainer.state
    with pytest.raises(RunError, match=r'Step 1 has loss nan.*test_trainer.py:\d+: graph.map ".*log.*" gives NaN'):
        trainer.take((X, Y))
    assert same(trainer.state, before) and trainer.step == 0
    with pytest.raises(RunError, match="inputs 1.0 are not finite"):
        trainer.take((X * np.inf, Y))


def test_origin_in_loops() -> None:
    def f(x: Any) -> Any:
        return mlc.fori_loop(0, 20, lambda i, s: mnp.exp(s), x)

    assert "graph.map" in origin(mlc.jit(f), np.float32(1)) and "an infinity" in origin(mlc.jit(f), np.float32(1))
    assert origin(mlc.jit(f), np.float32(-np.inf)).startswith("the inputs 0")


def test_mixed_precision_and_loss_scaling() -> None:
    optimizer = optim.loss_scaling(optim.sgd(0.1), initial=2.0**125, period=1000)
    trainer = train.Trainer(nn.Linear(3, 1), optimizer, loss, precision="bfloat16")
    trainer.fit(train.ArrayData((X, Y), 16), 150, progress=False)
    assert trainer.model.weight.dtype == np.float32 and float(trainer.state.optimizer.scale) < 2.0**125
    np.testing.assert_allclose(trainer.model.weight, [[1, -2, 0.5]], atol=0.03)


def test_loss_scaling_within_other_wrappers() -> None:
    """The loss is scaled, and a step whose gradients are not finite is left out, at any depth."""
    model, scaled = nn.Linear(3, 1), optim.loss_scaling(optim.sgd(0.1), initial=2.0**10)
    for optimizer in (optim.ema(scaled), optim.accumulate(scaled, 1), optim.accumulate(optim.ema(scaled), 1)):
        trainer, plain = (train.Trainer(model, each, loss) for each in (optimizer, optim.sgd(0.1)))
        found, expected = trainer.take((X, Y)), plain.take((X, Y))
        assert found == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(trainer.model.weight, plain.model.weight, rtol=1e-4)
        before = trainer.state.parameters
        trainer.take((X * np.inf, Y))
        assert same(trainer.state.parameters, before)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ((X, Y), "A tuple of arrays is one batch.*ArrayData"),
        ([], "data ends after 0 steps"),
        (None, "Data cannot be a NoneType"),
        ([(X, Y[:, None, None])], r"mse_loss cannot take arrays of shapes \(64,\) and \(64, 1, 1\)"),
    ],
)
def test_data_that_are_refused(data: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss).fit(data, 1, progress=False)


@pytest.mark.parametrize("optimizer", [optim.adam, "adam"])
def test_what_is_no_optimizer_is_refused(optimizer: Any) -> None:
    with pytest.raises(InputError, match=r"The optimizer is .*adam.*such as optim.adam\(1e-3\)"):
        train.Trainer(nn.Linear(3, 1), optimizer, loss)


def test_a_batch_may_be_a_list() -> None:
    """As those of torch.utils.data.DataLoader."""
    first, second = (train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss) for _ in range(2))
    second.state = first.state
    assert first.take([X, Y]) == second.take((X, Y))


def test_a_label_of_no_class_is_found() -> None:
    trainer = train.Trainer(nn.Linear(3, 2), optim.sgd(0.1), lambda m, x, y: nn.cross_entropy(m(x), y))
    for wrong in (2, -1):
        labels = np.where(np.arange(64) == 9, wrong, 1)
        with pytest.raises(RunError, match=r"Step 1 has loss nan.*test_trainer.py:\d+: graph.map.*gives NaN"):
            trainer.take((X, labels))


def test_frozen_parameters_stay() -> None:
    model = nn.Linear(3, 1)
    trainer = train.Trainer(model, optim.adamw(0.1), loss, trainable=lambda name: name == "bias")
    trainer.take((X, Y))
    np.testing.assert_array_equal(trainer.model.weight, model.weight)
    text = trainer._stateful.ir("plan", trainer.state, (X, Y))
    (frozen,) = re.findall(r"(%\d+) = rt.update %\d+ : memref<1x3xf32>", text)
    assert not re.search(rf"rt.(launch|copy) .*{frozen}\b", text)  # nothing writes it
    assert float(trainer.model.bias[0]) != float(model.bias[0])  # type: ignore[index]
    with pytest.raises(InputError, match="no parameters that are trained"):
        train.Trainer(model, optim.sgd(0.1), loss, trainable=lambda _: False)


def test_a_checkpoint_is_a_file_of_safetensors(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    path = train.Checkpoints(tmp_path).save(3, train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss).state)
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert header["__metadata__"]["step"] == "3" and {"parameters.weight", "step", "key"} <= header.keys()
    with pytest.raises(InputError, match="every=0 of checkpoints is below 1"):
        train.Checkpoints(tmp_path, every=0)


def test_the_weights_of_an_onnx_model_are_trained(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", 1, [16, 3])],
        [helper.make_tensor_value_info("y", 1, [16, 1])],
        [numpy_helper.from_array(np.zeros(s, np.float32), name) for name, s in (("w", (3, 1)), ("b", (1,)))],
    )
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), before)
    f = mlc.function(before)
    trainer = train.Trainer(f.weights, optim.sgd(0.1), lambda w, x, y: nn.mse_loss(f(x, weights=w)[:, 0], y))
    trainer.fit(train.ArrayData((X, Y), 16), 100, progress=False)
    nn.save_onnx(before, trainer.model, after)
    np.testing.assert_allclose(mlc.function(after)(X[:16])[:, 0], Y[:16], atol=0.01)


def test_a_long_history_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlc.train.trainer.KEPT", 3)
    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss).fit([(X, Y)], 8, progress=False)
    assert [n for n, _ in trainer.history] == [5, 6, 7, 8]


def test_the_program_owns_the_state_and_copies_no_matrix() -> None:
    model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm(8), nn.tanh, nn.Linear(8, 3))
    clipped = [optim.chain(optim.clip_by_global_norm(1.0), each) for each in (optim.lion(), optim.sgd(0.1, 0.9))]
    wrapped = [optim.ema(optim.nadam(), 0.9), optim.accumulate(optim.adam(0.1), 4)]
    for optimizer in (optim.adam(0.1), optim.sgd(0.1, 0.9), *wrapped, *clipped):
        trainer = train.Trainer(model, optimizer, lambda model, x, y: nn.mse_loss(model(x), y))
        text = trainer._stateful.ir("plan", trainer.state, (X, X))
        assert text.count("rt.state") == len(trees.leaves(trainer.state))
        assert not re.search(r"rt.copy .* memref<\d+x\d+xf32>$", text, re.MULTILINE)  # though perhaps a bias


def test_an_assigned_state_goes_on() -> None:
    first, second = (train.Trainer(nn.Linear(3, 1), optim.adam(0.1), loss) for _ in range(2))
    for _ in range(3):
        first.take((X, Y))
    second.state = first.state
    assert second.step == 3 and second.take((X, Y)) == first.take((X, Y)) and same(second.state, first.state)


def test_steps_that_are_not_finite_are_left_out() -> None:
    trainer = train.Trainer(nn.Linear(3, 1), optim.apply_if_finite(optim.sgd(0.1), limit=2), loss)
    before = trainer.state
    for _ in range(2):
        trainer.take((X * np.inf, Y))
    assert same(trainer.state.parameters, before.parameters)
    assert [int(n) for n in trainer.state.optimizer[1:]] == [2, 2]
    trainer.take((X, Y))
    assert [int(n) for n in trainer.state.optimizer[1:]] == [0, 2]
    assert not same(trainer.state.parameters, before.parameters)
    for _ in range(3):
        trainer.take((X * np.inf, Y))
    assert not np.isfinite(trainer.model.weight.numpy()).all()  # the third in a row is applied


def test_a_folder_of_checkpoints_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(OutputError, match="Cannot make the folder '.*run' of checkpoints: File exists"):
        train.Checkpoints(tmp_path / "run")


def test_a_number_of_steps_below_zero() -> None:
    with pytest.raises(InputError, match="until -1 steps"):
        train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss).fit(train.ArrayData((X, Y), 16), -1, progress=False)
