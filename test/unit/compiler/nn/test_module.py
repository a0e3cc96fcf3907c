"""Modules as trees: fields, names, modes, states, files; layers beside formulas in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError
from mlc.nn.module import modules


class Block(nn.Module):
    parts: list[nn.Linear]
    scale: float = nn.static(default=2.0)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = self.scale * nn.relu(part(x))
        return x


class Net(nn.Module):
    block: Block
    norm: nn.BatchNorm
    extra: dict[str, Any]

    def __init__(self) -> None:
        self.block = Block([nn.Linear(3, 4), nn.Linear(4, 2)])
        self.norm = nn.BatchNorm(2)
        self.extra = {"shift": mnp.zeros(2), "none": None}

    def __call__(self, x: Any) -> Any:
        return self.norm(self.block(x)) + self.extra["shift"]


def data(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def test_names_are_paths() -> None:
    assert list(Net().state_dict()) == [
        *("block.parts.0.weight", "block.parts.0.bias", "block.parts.1.weight", "block.parts.1.bias"),
        *("norm.weight", "norm.bias", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"),
        "extra.shift",
    ]


def test_values_are_those_of_numpy() -> None:
    net, x = Net(), data(5, 3)
    state = net.state_dict()
    expected = x
    for n in range(2):
        expected = 2 * np.maximum(expected @ state[f"block.parts.{n}.weight"].T + state[f"block.parts.{n}.bias"], 0)
    mean, variance = expected.mean(0), expected.var(0)
    y, after = nn.functional_call(net, x)
    np.testing.assert_allclose(y, (expected - mean) / np.sqrt(variance + 1e-5), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(after.norm.running_mean, 0.1 * mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(after.norm.running_var, 0.9 + 0.1 * variance * 5 / 4, rtol=1e-4)
    assert int(after.norm.num_batches_tracked) == 1 and not net.norm.running_mean.numpy().any()


def test_a_call_alone_records_nothing() -> None:
    net = Net()
    net(data(5, 3))
    assert not net.norm.running_mean.numpy().any()


def test_modes_are_programs() -> None:
    net, x = Net(), data(5, 3)
    call = mlc.jit(lambda net, x: net(x), wait=True)
    trained, evaluated = call(net, x), call(net.eval(), x)
    assert np.abs(trained.numpy() - evaluated.numpy()).max() > 0.1
    assert not net.block.parts[0].training and net.train().norm.training and len(call.programs) == 2


def test_dropout() -> None:
    layer, x = nn.Sequential(nn.Dropout(0.25), nn.Dropout(0.0)), np.ones((100, 100), np.float32)
    y, _ = nn.functional_call(layer, x, key=mnp.random.key(3))
    again, _ = nn.functional_call(layer, x, key=mnp.random.key(3))
    values = y.numpy()
    np.testing.assert_array_equal(values, again)
    assert abs((values == 0).mean() - 0.25) < 0.02 and np.allclose(values[values > 0], 4 / 3)
    np.testing.assert_array_equal(layer.eval()(x), x)
    with pytest.raises(InputError, match="Dropout draws random numbers"):
        layer.train()(x)
    with pytest.raises(InputError, match="probability 1.5"):
        nn.Dropout(1.5)(x, mnp.random.key(0))


def test_two_dropouts_differ() -> None:
    x = np.ones(1000, np.float32)

    def both(x: Any) -> Any:
        return nn.Dropout(0.5)(x), nn.Dropout(0.5)(x)

    (a, b), _ = nn.functional_call(nn.Lambda(both), x, key=mnp.random.key(0))
    assert (a.numpy() != b.numpy()).any()


def test_dropout_of_attention() -> None:
    """Of each weight alone; the others are divided by what is left."""
    q, k = data(2, 3, 40, 8), data(2, 3, 50, 8)
    values = np.broadcast_to(np.eye(50, dtype=np.float32), (2, 3, 50, 50))
    whole = nn.dot_product_attention(q, k, values).numpy()
    found = nn.dot_product_attention(q, k, values, dropout=0.3, rng=mnp.random.key(1)).numpy()
    assert abs((found == 0).mean() - 0.3) < 0.02
    np.testing.assert_allclose(found[found != 0], whole[found != 0] / 0.7, rtol=1e-5)
    layer, x = nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True), data(2, 5, 8)
    first, again, other = (nn.functional_call(layer, x, key=mnp.random.key(n))[0].numpy() for n in (0, 0, 1))
    assert np.array_equal(first, again) and not np.allclose(first, other)
    plain = nn.MultiheadAttention(8, 2, batch_first=True).load_state_dict(layer.state_dict())
    np.testing.assert_array_equal(layer.eval()(x), plain(x))


def test_dropout_between_recurrent_layers() -> None:
    layer, x = nn.GRU(3, 4, 2, dropout=0.5), data(3, 2, 3)
    plain = nn.GRU(3, 4, 2).load_state_dict(layer.state_dict())
    first, again, other = (nn.functional_call(layer, x, key=mnp.random.key(n))[0][0].numpy() for n in (0, 0, 1))
    assert np.array_equal(first, again) and not np.allclose(first, other)
    np.testing.assert_array_equal(layer.eval()(x)[0], plain(x)[0])


def test_modes_of_all_modules() -> None:
    """The mode is set in lists, dictionaries, tuples and wrappers; layers with a mode behave by it."""
    net = Net()
    net.extra["more"] = [nn.Dropout(0.5), (nn.Sequential(nn.Dropout(0.1)), {"cell": nn.LSTMCell(2, 2)})]
    tied = nn.Tied(net, {"block.parts.1.bias": "norm.bias"})
    for mode in (False, True):
        tied.train(mode)
        found = modules(tied)
        assert len(found) == 10 and all(each.training == mode for each in found)


def test_partition_and_combine() -> None:
    net = Net()
    parameters, rest = nn.partition(net)
    assert len(parameters.state_dict()) == 7 and list(rest.state_dict()) == [
        "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]  # fmt: skip
    frozen, _ = nn.partition(net, lambda name: name.startswith("norm"))
    assert list(frozen.state_dict()) == ["norm.weight", "norm.bias"]
    assert nn.combine(parameters, rest).state_dict().keys() == net.state_dict().keys()


def test_embedding_and_its_gradient() -> None:
    layer, indices = nn.Embedding(5, 3), np.array([[1, 4], [1, 1]])
    np.testing.assert_array_equal(layer(indices), layer.state_dict()["weight"][indices])
    gradient = mlc.grad(lambda layer: mnp.sum(layer(indices)))(layer)
    np.testing.assert_array_equal(gradient.weight.numpy()[:, 0], [0, 3, 0, 0, 1])


def test_files_of_safetensors(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    net, other, path = Net(), Net(), tmp_path / "net.safetensors"
    nn.save_file(net.state_dict(), path)
    other.load_state_dict(nn.load_file(path))
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], value)
    assert [p.name for p in tmp_path.glob("*.*")] == ["net.safetensors"]
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match="no file of safetensors"):
        nn.load_file(path)
    with pytest.raises(InputError, match="no file"):
        nn.load_file(tmp_path / "none")
    with pytest.raises(InputError, match="no folder"):
        nn.save_file({}, tmp_path / "none" / "x")


def test_trained_weights_in_onnx_files(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    inputs, outputs = ([helper.make_tensor_value_info(*each)] for each in (("x", 1, [2, 3]), ("y", 1, [2, 4])))
    graph = helper.make_graph(nodes, "net", inputs, outputs, [numpy_helper.from_array(data(3, 4), "w")])
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), before)
    x, weights = data(2, 3), {"w": mlc.function(before).weights["w"] * 2}
    nn.save_onnx(before, weights, after)
    np.testing.assert_allclose(mlc.function(after)(x), 2 * mlc.function(before)(x).numpy(), rtol=1e-5)
    for wrong, says in (({"v": data(1)}, "no such initializer"), ({"w": data(1)}, r"shape \(3, 4\)")):
        with pytest.raises(InputError, match=says):
            nn.save_onnx(before, wrong, after)


def test_states_that_do_not_fit() -> None:
    net = Net()
    state = net.state_dict()
    with pytest.raises(InputError, match="no norm.bias and unknown bias"):
        net.load_state_dict({("bias" if k == "norm.bias" else k): v for k, v in state.items()})
    with pytest.raises(InputError, match=r"'norm.bias' has the shape \(3,\)"):
        net.load_state_dict(state | {"norm.bias": data(3)})
    net.load_state_dict({"norm.bias": np.ones(2)}, strict=False)
    assert net.norm.bias.numpy().tolist() == [1, 1]


def test_a_field_is_declared() -> None:
    with pytest.raises(InputError, match="Linear has no field 'scale'"):
        nn.Linear(2, 2).scale = 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("make, says", [
    (lambda: nn.Conv2d(3, 4, 1, groups=2), "2 groups do not divide 3 and 4 channels"),
    (lambda: nn.MultiheadAttention(5, 2), "5 elements in 2 heads"),
    (lambda: nn.GRU(2, 2)(data(2, 2)), "GRU takes arrays of rank 3"),
    (lambda: nn.Embedding(5, 2, padding_idx=5), "padding_idx=5 is none of 5 embeddings"),
    (lambda: nn.dot_product_attention(*[data(1, 1, 2, 2)] * 3, dropout=0.5), "Dropout with probability 0.5.*key"),
    (lambda: nn.Tied(Net(), {"norm.weight": "norm.bia"}), "no parameter 'norm.bia'.*It has block"),
    (lambda: nn.Tied(Net(), {"norm.weight": "block.parts.0.weight"}), "they cannot be one"),
    (lambda: nn.Tied(nn.Sequential(*[nn.Linear(2, 2)] * 2), {"0.bias": "1.bias", "1.bias": "0.bias"}), "to tie"),
    (lambda: nn.RNN(2, 2, nonlinearity="gelu")(data(1, 2, 2)), "There is no nonlinearity 'gelu'"),
    (lambda: nn.init.xavier_normal((3,)), "number of inputs"),
    (lambda: nn.init.kaiming_normal((3, 2), mode="fan"), "There is no mode 'fan'"),
    (lambda: nn.init.trunc_normal((3,), low=9, high=10), "hardly"),
])  # fmt: skip
def test_refused(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


INITIALIZERS = {
    "xavier_uniform": np.sqrt(2 / (300 * 4 + 200 * 4)),
    "xavier_normal": np.sqrt(2 / (300 * 4 + 200 * 4)),
    "kaiming_uniform": np.sqrt(2 / (300 * 4)),
    "kaiming_normal": np.sqrt(2 / (300 * 4)),
    "trunc_normal": 0.8796,
    "normal": 1.0,
    "uniform": np.sqrt(1 / 12),
}


@pytest.mark.parametrize("name", INITIALIZERS)
def test_variances_of_initial_weights(name: str) -> None:
    values = getattr(nn.init, name)((200, 300, 2, 2)).numpy()
    assert values.dtype == np.float32
    np.testing.assert_allclose(values.std(), INITIALIZERS[name], rtol=0.02)


@pytest.mark.parametrize("shape", [(4, 7), (7, 2, 2)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    matrix = nn.init.orthogonal(shape, gain=2).numpy().reshape(shape[0], -1)
    small = matrix @ matrix.T if len(matrix) < matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-5)


def test_seeds_repeat_weights() -> None:
    nn.manual_seed(5)
    first = nn.Linear(3, 3).state_dict()["weight"]
    nn.manual_seed(5)
    np.testing.assert_array_equal(nn.Linear(3, 3).state_dict()["weight"], first)
