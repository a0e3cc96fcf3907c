"""Optimizers, modules and files of the graph style, and nets of layers, against mlc.optim, mlc.nn and NumPy."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlc.numpy as mnp
from mlc import graph, nn, optim
from mlc.errors import InputError
from mlc.graph.optimizers import SPELLED


def data(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


OTHERS: dict[str, Any] = {"GradientDescent": optim.sgd, "Momentum": lambda lr: optim.sgd(lr, 0.9)}


@pytest.mark.parametrize("name", SPELLED)
def test_every_optimizer_follows_mlc_optim(name: str) -> None:
    first = data(3)
    w, count = graph.Variable(first), graph.Variable(0)
    train = getattr(graph, f"{name}Optimizer")(0.01).minimize(graph.sum((w - 1.0) ** 2), global_step=count)
    transformation = OTHERS.get(name, getattr(optim, name.lower(), None))(0.01)
    session, p = graph.Session(), mnp.asarray(first)
    state = transformation.init(p)
    for _ in range(3):
        session.run(train)
        updates, state = transformation.update(2 * (p - 1), state, p)
        p = optim.apply_updates(p, updates)
    np.testing.assert_allclose(session.run(w), p.numpy(), rtol=1e-4, atol=1e-6)
    assert session.run(count) == 3


def test_options_as_nodes_and_by_other_names() -> None:
    rate, w, other = graph.Placeholder(), graph.Variable(1.0), graph.Variable(1.0)
    train = graph.train.AdamOptimizer(learning_rate=rate, beta1=0.8, epsilon=1e-6).minimize(w * w * other, var_list=[w])
    session = graph.Session()
    session.run(train, {rate: 0.1})
    np.testing.assert_allclose(session.run([w, other]), [0.9, 1.0], rtol=1e-5)
    clipped = graph.Optimizer(optim.chain(optim.clip_by_global_norm(0.5), optim.sgd(1.0)))
    pairs = clipped.compute_gradients(100.0 * other)
    session.run(clipped.apply_gradients(pairs))
    np.testing.assert_allclose(session.run(other), 0.5, rtol=1e-5)


def test_modules_have_variables_and_update_their_statistics() -> None:
    x, labels = graph.Placeholder("x"), graph.Placeholder("labels")
    net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm(8), nn.relu, nn.Dropout(0.5), nn.Linear(8, 2))
    scores = net(x)
    loss = nn.cross_entropy(scores, labels)
    train = graph.AdamOptimizer(0.05).minimize(loss)
    session, inputs = graph.Session(), data(64, 3)
    feeds = {x: inputs, labels: (inputs[:, 0] > 0).astype(np.int64)}
    assert not np.array_equal(session.run(scores, feeds), session.run(scores, feeds))  # dropout draws anew
    losses = [session.run([loss, train], feeds)[0] for _ in range(40)]
    assert losses[-1] < losses[0] / 2
    trained = session.run(net)
    assert isinstance(trained, nn.Sequential) and trained[1].num_batches_tracked.numpy() == 42
    net.eval()
    np.testing.assert_allclose(session.run(net(x), feeds), trained.eval()(inputs).numpy(), rtol=1e-4, atol=1e-5)


def test_a_module_called_twice_has_its_variables_once() -> None:
    layer, x = nn.Linear(2, 2), graph.Placeholder()
    layer(layer(x))
    assert [v.name for v in graph.get_default_graph().variables if v.trainable] == ["Linear/weight", "Linear/bias"]
    with graph.Graph().as_default() as other:
        layer(graph.Placeholder())
        assert len(other.variables) == 3  # and the number of the run, from which random numbers follow


def test_files_and_pickles(tmp_path: Path) -> None:
    x, w, n = graph.Placeholder("x"), graph.Variable(data(3), name="w"), graph.Variable(2**40, name="n")
    y = graph.sum(graph.cond(graph.sum(x) > 0, lambda: w * x, lambda: w + x)) + graph.relu(x)[0]
    train = graph.AdamOptimizer(0.1).minimize(y)
    session, other, values = graph.Session(), graph.Session(), data(3)
    session.run([train, graph.assign_add(n, 1)], {x: values})
    saver = graph.Saver()
    path = saver.save(session, tmp_path / "model", global_step=7)
    assert path.endswith("model-7")
    saver.restore(other, path)
    assert session.run([y, n], {x: values}) == other.run([y, n], {x: values})
    again, loaded = pickle.loads(pickle.dumps((y, session)))
    given = again.graph["x"]
    assert loaded.run(again, {given: values}) == session.run(y, {x: values})
    loaded.run(again.graph[train.name], {given: values})
    session.run(train, {x: values})
    np.testing.assert_array_equal(loaded.run(again.graph["w"]), session.run(w))


def test_what_cannot_be_stored(tmp_path: Path) -> None:
    w = graph.Variable(data(3), name="w")
    path = graph.Saver([w]).save(graph.Session(), tmp_path / "model")
    with pytest.raises(InputError, match="has no variable 'v'"):
        graph.Saver({"v": w}).restore(graph.Session(), path)
    with pytest.raises(InputError, match=r"has 'w' as float32\[3\], where the graph has int64\[\]"):
        graph.Saver({"w": graph.Variable(1)}).restore(graph.Session(), path)
    with pytest.raises(InputError, match="has no variables to restore"):
        graph.Saver([w]).restore(graph.Session(), tmp_path / "nothing")
    y = graph.Call(lambda x: x + 1, w, name="own")
    with pytest.raises(InputError, match="Node 'own' holds the function .*lambda"):
        pickle.dumps(y)


class Cube(graph.Layer):
    """A layer in NumPy."""

    def forward(self, inputs: Any) -> Any:
        self.inputs = np.asarray(inputs)
        return self.inputs**3

    def backward(self, grad: Any) -> Any:
        return 3 * self.inputs**2 * grad


MIDDLES = {"Tanh": graph.Tanh(), "LayerNorm": nn.LayerNorm(16), "Cube": Cube(), "sin": mnp.sin}


@pytest.mark.parametrize("middle", MIDDLES.values(), ids=MIDDLES)
def test_models_of_layers_learn(middle: Any) -> None:
    random = np.random.default_rng(0)
    inputs = random.standard_normal((64, 3))
    targets = np.eye(2)[(inputs[:, 0] > 0).astype(int)]
    net = graph.Net([graph.Dense(16, rng=random), middle, graph.Dense(16, 2, rng=random)])
    model = graph.Model(net, graph.SoftmaxCrossEntropyLoss(), graph.Adam(lr=0.02))
    for _ in range(20):
        loss, grads = model.backward(model.forward(inputs), targets)
        model.apply_grad(grads)
    last = [model.step(inputs, targets) for _ in range(20)][-1]
    assert last < loss
    model.set_phase("TEST")
    assert (model.forward(inputs).argmax(1) == targets.argmax(1)).mean() > 0.9


def test_gradients_of_layers() -> None:
    net = graph.Net([graph.Dense(2, 8), graph.Sigmoid(), graph.Dense(8, 1)])
    x, y = data(5, 2), data(5, 1)
    predicted = net.forward(x)
    grads = net.backward(graph.MSELoss().grad(predicted, y))
    (w, b), v = (net.params[0][n].numpy().astype(float) for n in "wb"), net.params[2]["w"].numpy().astype(float)
    h = 1 / (1 + np.exp(-(x @ w + b)))
    delta = (predicted - y) / 5
    np.testing.assert_allclose(grads[2]["w"], h.T @ delta, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(grads[0]["w"], x.T @ (delta @ v.T * h * (1 - h)), rtol=1e-4, atol=1e-6)
    graph.SGD(lr=0.1).step(net)
    np.testing.assert_allclose(net.params[0]["w"], w - 0.1 * grads[0]["w"].numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind, expected", [
    (graph.MSELoss, lambda p, y: 0.5 * ((p - y) ** 2).sum() / len(p)),
    (graph.MAELoss, lambda p, y: abs(p - y).sum() / len(p)),
    (graph.HuberLoss, lambda p, y: np.where(abs(p - y) < 1, (p - y) ** 2 / 2, abs(p - y) - 0.5).sum() / len(p)),
    (graph.SoftmaxCrossEntropyLoss, lambda p, y: -(y * np.log(np.exp(p) / np.exp(p).sum(1, keepdims=True))).sum() / 4),
    (graph.SigmoidCrossEntropyLoss, lambda p, y: (np.log1p(np.exp(p)) - p * y).sum() / len(p)),
])  # fmt: skip
def test_losses(kind: Any, expected: Any) -> None:
    p, y = data(4, 3), np.eye(3, dtype=np.float32)[[0, 2, 1, 1]]
    np.testing.assert_allclose(kind().loss(p, y), expected(p.astype(float), y), rtol=1e-5)


def test_models_in_files(tmp_path: Path) -> None:
    make = lambda: graph.Model(graph.Net([graph.Dense(3, 2)]), graph.MSELoss(), graph.SGD())  # noqa: E731
    one, two, x = make(), make(), data(4, 3)
    one.save(tmp_path / "model")
    two.load(tmp_path / "model")
    np.testing.assert_array_equal(one.forward(x), two.forward(x))
    with pytest.raises(InputError, match="backward of layer Dense before forward"):
        make().net.backward(data(4, 2))
