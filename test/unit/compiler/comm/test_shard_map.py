"""``shard_map``: values and derivatives are those of the whole arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.errors import InputError

P = mlc.P


def draw(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng().normal(size=shape)


def everywhere(f: Any, ranks: int, *args: Any) -> Any:
    """``f`` of whole arrays on simulated ranks: equal on all, and so that of rank 0."""
    found = comm.simulate(f, ranks)(*(np.stack([x] * ranks) for x in args))
    first = mlc.tree_map(lambda y: np.asarray(y)[0], found)
    mlc.tree_map(lambda y, one: np.testing.assert_allclose(y, np.stack([one] * ranks)), found, first)
    return first


def sharded(f: Any, ranks: int, *specs: Any) -> Any:
    return lambda *args: mlc.shard_map(f, mlc.Mesh(model=ranks), *specs)(*args)


MODEL = "model"
CASES = {
    "rows": (lambda x, w: x @ w, (P(MODEL), P()), P(MODEL)),
    "columns": (lambda x, w: x @ w, (P(), P(None, MODEL)), P(None, MODEL)),
    "contracted": (lambda x, w: comm.all_reduce(x @ w), (P(None, MODEL), P(MODEL)), P()),
    "whole": (lambda x, w: x @ w, (P(), P()), P()),
    "scattered": (lambda x, w: comm.reduce_scatter(x @ w), (P(None, MODEL), P(MODEL)), P(MODEL)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_product_divided_by_each_axis(name: str, ranks: int) -> None:
    f, *specs = CASES[name]
    x, w, bar = draw(6, 12), draw(12, 6), draw(6, 6)
    product = sharded(f, ranks, *specs)
    np.testing.assert_allclose(everywhere(product, ranks, x, w), x @ w)

    def loss(x: Any, w: Any, bar: Any) -> Any:
        return mlc.grad(lambda both: mnp.sum(product(*both) * bar))((x, w))

    of_x, of_w = everywhere(loss, ranks, x, w, bar)
    np.testing.assert_allclose(of_x, bar @ w.T)
    np.testing.assert_allclose(of_w, x.T @ bar)


def test_two_layers_as_megatron_divides_them() -> None:
    """The hidden layer is divided: one sum forward, and one backward for the input."""
    x, first, second = draw(4, 6), draw(6, 8), draw(8, 6)
    specs = ((P(), {"first": P(None, MODEL), "second": P(MODEL)}), P())
    layers = lambda x, w: comm.all_reduce(mnp.tanh(x @ w["first"]) @ w["second"])  # noqa: E731
    plain = lambda x, w: mnp.tanh(x @ w["first"]) @ w["second"]  # noqa: E731

    def gradients(f: Any) -> Any:
        return lambda x, a, b: mlc.grad(lambda x, w: mnp.sum(f(x, w) ** 2), argnums=(0, 1))(
            x, {"first": a, "second": b}
        )

    found = everywhere(gradients(sharded(layers, 2, *specs)), 2, x, first, second)
    wanted = gradients(plain)(*map(mnp.asarray, (x, first, second)))
    mlc.tree_map(lambda a, b: np.testing.assert_allclose(a, np.asarray(b), rtol=1e-10), found, wanted)


def test_compiled_on_two_ranks(tmp_path: Path) -> None:
    f, *specs = CASES["contracted"]
    x, w = draw(6, 12), draw(12, 6)
    with comm.traced_for(2):
        mlc.jit(sharded(f, 2, *specs)).lower(x, w).save(tmp_path / "f.so")
    for found in comm.in_threads(2, lambda rank: mlc.load(tmp_path / "f.so")(x, w), limit=20):
        np.testing.assert_allclose(found, x @ w)


@pytest.mark.parametrize(
    "specs, message",
    [
        (((P("data"),), P()), "there is no axis 'data'"),
        (((P(MODEL, MODEL),), P()), "a name twice"),
        (((P(None, None, MODEL),), P()), "does not fit an array of shape"),
        (((P(MODEL),), (P(), P())), "Shardings"),
        ((P(MODEL), P()), "and in_specs P"),
        (((P(None, MODEL),), P()), "5 elements, which 2 ranks do not divide"),
    ],
)
def test_what_does_not_fit_is_refused(specs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message), comm.traced_for(2):
        mlc.jit(lambda x: mlc.shard_map(lambda x: x, mlc.Mesh(model=2), *specs)(x)).lower(draw(4, 5))


def test_meshes_that_are_no_one_axis_of_all_ranks() -> None:
    with pytest.raises(InputError, match=r"Mesh\(data=2\) does not fit 1 ranks"):
        mlc.shard_map(lambda x: x, mlc.Mesh(data=2), (P(),), P())(draw(2))
    with pytest.raises(InputError, match="Give a mesh of one axis"):
        mlc.shard_map(lambda x: x, mlc.Mesh(data=2, model=2), (P(),), P())
    with pytest.raises(InputError, match="is no mesh"):
        mlc.Mesh(data=0)
