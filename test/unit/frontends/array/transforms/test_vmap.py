"""vmap against the function of one element at a time, line by line and compiled; Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError

RNG = np.random.default_rng(88)
X, W, Y = RNG.normal(size=(4, 5, 3)), RNG.normal(size=(3, 2)), RNG.normal(size=(4, 3))
EITHER = pytest.mark.parametrize("how", [lambda f: f, mlc.jit], ids=["line by line", "compiled"])
How = Callable[[Any], Any]


def steps(x: Any, y: Any) -> Any:
    """As many iterations as an element needs."""
    return mlc.while_loop(lambda s: mnp.sum(s[0] ** 2) < 50, lambda s: (s[0] * 1.5 + mnp.sin(y), s[1] + 1), (y, 0))


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "elementwise": lambda x, y: mnp.sin(x) * y + 1,
    "products": lambda x, y: (x @ W, x @ y, mnp.einsum("ij,kj->ik", x, x)),
    "reductions": lambda x, y: (mnp.sum(x, axis=0), mnp.max(x), mnp.argmax(x, axis=1), mnp.std(y)),
    "indices": lambda x, y: (x[np.array([0, 2, 2])][:, ::-1], mnp.take(x, mnp.astype(mnp.abs(y), "int64"), axis=0)),
    "sorting": lambda x, y: (mnp.sort(x, axis=0), mnp.argsort(y), mnp.cumulative_sum(x, axis=1)),
    "shapes": lambda x, y: mnp.concat([mnp.roll(x, 2, axis=0), mnp.ones((2, 3), dtype="float64"), y[None]], axis=0),
    "branches": lambda x, y: mlc.cond(mnp.sum(x) > 0, lambda a: mnp.sin(a), lambda a: mnp.cos(a) @ W @ W.T, x),
    "scan": lambda x, y: mlc.scan(lambda s, v: (mnp.tanh(s * y + v), s * 2.0), y * 0, x),
    "fori_loop": lambda x, y: mlc.fori_loop(0, 4, lambda i, s: s * y + x[i], mnp.zeros(3, dtype="float64")),
    "while_loop": steps,
    "gradient": lambda x, y: mlc.grad(lambda x: mnp.sum(mnp.tanh(x @ W) ** 2) * mnp.sum(y))(x),
    "tangent": lambda x, y: mlc.jvp(lambda y: mnp.tanh(x * y), (y,), (y * 2,)),
    "nested": lambda x, y: mlc.vmap(lambda v: mnp.sum(v) * y, in_axes=1, out_axes=1)(x),
    "the same for all": lambda x, y: (mnp.ones(2), x),
}


def close(actual: Any, expected: Any) -> None:
    for a, b in zip(optree.tree_leaves(actual), optree.tree_leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-11, atol=1e-12)


def stacked(results: list[Any]) -> Any:
    return optree.tree_map(lambda *ys: np.stack([np.asarray(y) for y in ys]), *results)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_is_its_elements(name: str) -> None:
    f = FUNCTIONS[name]
    close(mlc.vmap(f)(X, Y), stacked([f(mnp.asarray(x), mnp.asarray(y)) for x, y in zip(X, Y, strict=True)]))
    close(mlc.vmap(f, in_axes=(None, 0))(X[0], Y), stacked([f(mnp.asarray(X[0]), mnp.asarray(y)) for y in Y]))


def test_compiled_over_an_open_batch() -> None:
    def both(x: Any, y: Any) -> list[Any]:
        return [mlc.vmap(FUNCTIONS[name])(x, y) for name in ("scan", "while_loop")]

    f = mlc.jit(both, shapes={"x": ("n", 5, 3), "y": ("n", 3)})
    for count in (4, 2):
        close(f(X[:count], Y[:count]), both(X[:count], Y[:count]))


def test_axes() -> None:
    def f(p: dict[str, Any], s: Any) -> dict[str, Any]:
        return {"y": p["a"] * s, "z": p["b"]}

    tree, out = {"a": X, "b": Y.T}, {"y": 2, "z": 0}
    close(mlc.vmap(f, ({"a": 0, "b": -1}, None), out)(tree, 2.0), {"y": np.moveaxis(X * 2, 0, 2), "z": Y})
    with pytest.raises(InputError, match=r"vmap cannot go over axes of lengths \[5, 4\]"):
        mlc.vmap(f, ({"a": 1, "b": -1}, None), out)(tree, 2.0)
    with pytest.raises(InputError, match=r"an array of shape \(4, 3\) has no axis 2"):
        mlc.vmap(lambda x: x, in_axes=2)(Y)
    with pytest.raises(InputError, match="out_axes cannot be None"):
        mlc.vmap(lambda x: x, out_axes=None)(Y)


@EITHER
def test_derivatives_of_batches(how: How) -> None:
    """Gradients of sums over a batch are sums of its gradients: shared weights in a scan."""

    def loss(w: Any, x: Any) -> Any:
        return mnp.sum(mlc.scan(lambda s, v: (mnp.tanh(s * w + v), s), w, x)[0] ** 2)

    each = how(lambda w, x: mlc.vmap(mlc.grad(loss), in_axes=(None, 0))(w, x))(Y[0], X)
    close(each, stacked([mlc.grad(loss)(Y[0], x) for x in X]))
    whole = how(mlc.grad(lambda w, x: mnp.sum(mlc.vmap(lambda x: loss(w, x))(x))))(Y[0], X)
    close(whole, np.asarray(each).sum(0))


def test_a_loop_until_each_element_is_done_has_derivatives() -> None:
    def f(w: Any) -> Any:
        return mlc.while_loop(lambda s: mnp.sum(s**2) < 50, lambda s: s * 1.5 + mnp.sin(w), w, max_iterations=20)

    whole = mlc.grad(lambda y: mnp.sum(mlc.vmap(f)(y)))(Y)
    close(whole, stacked([mlc.grad(lambda y: mnp.sum(f(y)))(y) for y in Y]))
    with pytest.raises(InputError, match=r"test_vmap.py:\d+: vmap: a loop that collects .* grad of the sum of vmap"):
        np.asarray(mlc.vmap(mlc.grad(lambda w: mnp.sum(f(w))))(Y))


@EITHER
def test_jacobians_and_hessians(how: How) -> None:
    torch = pytest.importorskip("torch")
    w, y = torch.tensor(W), torch.tensor(Y[:2])

    def f(x: Any) -> Any:
        return mnp.tanh(x @ W) * mnp.sum(x)

    def same(x: Any) -> Any:
        return torch.tanh(x @ w) * x.sum()

    expected = torch.func.jacfwd(same)(y).numpy()
    forward, back, second = how(lambda x: (mlc.jacfwd(f)(x), mlc.jacrev(f)(x), mlc.hessian(f)(x)))(Y[:2])
    close((forward, back), (expected, expected))
    close(second, torch.func.hessian(same)(y).numpy())


def test_jacobians_of_trees() -> None:
    def f(p: dict[str, Any], s: Any) -> dict[str, Any]:
        return {"y": p["a"] @ p["b"] * s, "z": mnp.sum(p["a"])}

    p, s = {"a": X[0], "b": W}, np.float64(2)
    forward, back = mlc.jacfwd(f, (0, 1))(p, s), mlc.jacrev(f, (0, 1))(p, s)
    close(forward, back)
    assert forward["y"][0]["b"].shape == (5, 2, 3, 2) and forward["z"][1].shape == ()
    close(forward["y"][0]["a"], 2 * np.einsum("ik,lj->ijkl", np.eye(5), W))


def test_refusals() -> None:
    with pytest.raises(InputError, match="vmap cannot go over axes of lengths"):
        mlc.vmap(lambda x, y: x)(X, Y[:2])
    with pytest.raises(InputError, match="in_axes"):
        mlc.vmap(lambda x, y: x, in_axes=(0, 0, 0))(X, Y)
