"""Models on a mesh: shardings by name, weights in parts, and the files of ranks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc import P, comm, divided, planning
from mlc.api import make_options
from mlc.driver.compile import compile_source
from mlc.errors import ArtifactError, InputError, RunError

RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((3, 20)).astype(np.float32)
UP = {"up": P(None, "model")}


def perceptron(inner: int = 32) -> onnx.ModelProto:
    """x[batch, 20] -> MatMul, Add, Relu -> MatMul with a transposed weight -> y[batch, 7]."""
    shapes = {"up": (20, inner), "bias": (inner,), "down": (7, inner)}
    weights = [numpy_helper.from_array(RANDOM.standard_normal(s).astype(np.float32), n) for n, s in shapes.items()]
    nodes = [
        helper.make_node("MatMul", ["x", "up"], ["a"], name="first"),
        helper.make_node("Add", ["a", "bias"], ["b"], name="add"),
        helper.make_node("Relu", ["b"], ["h"], name="act"),
        helper.make_node("Gemm", ["h", "down"], ["y"], name="second", transB=1),
    ]
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", d]) for n, d in (("x", 20), ("y", 7))]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=11)


def whole(model: onnx.ModelProto, x: np.ndarray = X) -> np.ndarray:
    w = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    return np.maximum(x @ w["up"] + w["bias"], 0) @ w["down"].T


def near(found: np.ndarray, model: onnx.ModelProto, x: np.ndarray = X) -> None:
    np.testing.assert_allclose(found, whole(model, x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "axes, shardings, inner",
    [
        ({"model": 2}, UP, 32),
        ({"model": 3}, UP, 32),  # 11, 11 and 10 columns
        ({"data": 2, "model": 2}, {"x": P("data")} | UP, 32),
        ({"data": 2, "model": 3}, {"h": P("data", "model")}, 33),
        ({"model": 2}, {"up": P("model")}, 32),
        ({"data": 4}, {"x": P("data")}, 32),  # a rank has no row
    ],
)
def test_ranks_compute_what_one_does(axes: dict[str, int], shardings: dict[str, P], inner: int) -> None:
    model = perceptron(inner)
    source = divided.of(model, mlc.Mesh(**axes), shardings)
    for rows in (3, 1):
        near(source.simulate({"x": X[:rows]})["y"], model, X[:rows])


def test_a_plan_is_searched_and_taken(tmp_path: Path) -> None:
    model, mesh = perceptron(), mlc.Mesh(model=2)
    auto = planning.Auto(memory=3500.0)
    source = divided.of(model, mesh, auto)
    options = make_options(dims={"batch": 3})
    near(source.simulate({"x": X}, options)["y"], model)
    from mlc.planning.written import written

    text = written(source.search({"batch": 3}, auto))
    assert "graph.weight 20x32xf32 | model: -> split" in text
    taken = divided.of(model, mesh, planning.Plan(text))
    near(taken.simulate({"x": X}, options)["y"], model)


def test_weights_of_ranks_are_files(tmp_path: Path) -> None:
    model, mesh = perceptron(), mlc.Mesh(model=2)
    net = mlc.compile(model, mesh=mesh, shardings=UP, name="net")
    net.save(tmp_path / "net.so")
    files = {each.name for each in tmp_path.iterdir()}
    assert files == {"net.so", "net.h", "net.0of2.weights", "net.1of2.weights", "net.weights.json"}
    index = json.loads((tmp_path / "net.weights.json").read_text())
    assert [each["sha256"] for each in index["files"]] == net.signature["weights"]["ranks"]
    one = mlc.compile(model).signature["weights"]["bytes"]
    assert net.signature["weights"]["bytes"] < 0.6 * one
    for y in comm.in_threads(2, lambda rank: mlc.load(tmp_path / "net.so", threads=1, verify=True)(X)):
        near(y, model)


def refusal(path: Path) -> str:
    with pytest.raises(RunError) as error:
        mlc.load(path, threads=1)(X)
    return str(error.value)


def second_rank(path: Path) -> None:
    comm.in_threads(2, lambda rank: mlc.load(path, threads=1) if rank == 1 else None)


def test_wrong_files_of_ranks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.so"
    built = compile_source(divided.of(perceptron(), mlc.Mesh(model=2), UP), make_options(name="net"))
    built.artifact.install(path)
    mine, other = tmp_path / "net.1of2.weights", tmp_path / "net.0of2.weights"
    kept = mine.read_bytes()
    mine.write_bytes(other.read_bytes())
    first, second = comm.in_threads(2, lambda rank: refusal(path))
    assert "rank 1 cannot begin, and says why" in first
    assert "has the weights of rank 0, and this is rank 1: give the file of this rank" in second
    mine.write_bytes(kept[:16] + bytes(32) + kept[48:])
    with pytest.raises(ArtifactError, match="belong to another model"):
        second_rank(path)
    mine.write_bytes(kept[:48] + bytes(16) + kept[64:])
    with pytest.raises(ArtifactError, match="are for 0 ranks, and model 'net' has files for 2"):
        second_rank(path)
    mine.unlink()
    with pytest.raises(ArtifactError, match=r"cannot open the weights of model 'net', .*net\.1of2\.weights"):
        second_rank(path)


def test_one_rank_says_how_many_it_needs() -> None:
    net = mlc.compile(perceptron(), mesh=mlc.Mesh(model=2), shardings=UP)
    with pytest.raises(RunError, match="is for 2 ranks, and there are 1.*mlc run --ranks 2"):
        net(X)


@pytest.mark.parametrize(
    "shardings, message",
    [
        ({"ups": P("model")}, "has no tensor 'ups' to divide.*Did you mean 'up'"),
        ({"up": P("data")}, "Tensor 'up' is divided wrongly: .*there is no axis 'data'"),
        ({"up": P(None, None, "model")}, "Tensor 'up' is divided wrongly: .*does not fit an array of shape"),
        ({"up": "model"}, "the sharding of 'up' is 'model'"),
        ("all", "shardings are 'all'"),
    ],
)
def test_shardings_that_do_not_fit_are_refused(shardings: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        divided.of(perceptron(), mlc.Mesh(model=2), shardings).imported({})


def test_a_plan_is_printed() -> None:
    printed = divided.of(perceptron(), mlc.Mesh(model=2), UP).plan(make_options())
    assert "of weights, for batch = 1024" in printed and "partial add → whole" in printed
    held, total = printed.split("arguments and ")[1].split(" bytes")[0].replace(",", "").split(" of ")
    assert int(held) < 0.55 * int(total)


def test_what_a_mesh_does_not_go_with_is_refused() -> None:
    with pytest.raises(InputError, match="shardings are of a mesh"):
        mlc.compile(perceptron(), shardings=UP)
    with pytest.raises(InputError, match="do not go with a mesh"):
        mlc.compile(perceptron(), mesh=mlc.Mesh(model=2), shardings=UP, wait=False)
    with pytest.raises(InputError, match="mesh is a dict"):
        mlc.compile(perceptron(), mesh={"model": 2})  # type: ignore[arg-type]
