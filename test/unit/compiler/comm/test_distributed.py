"""Functions that the ranks of a mesh compute together: values, derivatives, collectives, bytes and refusals."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.comm.sharded import Sharded
from mlc.errors import InputError, MlcError

P = mlc.P
HEADS, WIDTH, LENGTH, BATCH = 4, 8, 6, 4


def draw(*shape: int) -> np.ndarray[Any, Any]:
    return (np.random.default_rng().normal(size=shape) / 2).astype("float32")


def block(x: Any, w: Any) -> Any:
    """A layer of 4 x the width, as in a transformer."""
    return x + mnp.tanh(x @ w["up"] + w["bias"]) @ w["down"]


def block_weights() -> dict[str, Any]:
    return {"up": draw(WIDTH, 4 * WIDTH), "bias": draw(4 * WIDTH), "down": draw(4 * WIDTH, WIDTH)}


def attention(x: Any, w: Any) -> Any:
    batch = x.shape[0]
    heads = lambda t: mnp.transpose(mnp.reshape(t, (batch, LENGTH, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))  # noqa: E731
    q, k, v = (heads(x @ w[name]) for name in "qkv")
    scores = q @ mnp.swapaxes(k, -1, -2)
    p = mnp.exp(scores - mnp.max(scores, axis=-1, keepdims=True))
    mixed = (p / mnp.sum(p, axis=-1, keepdims=True)) @ v
    return x + mnp.reshape(mnp.transpose(mixed, (0, 2, 1, 3)), (batch, LENGTH, WIDTH)) @ w["o"]


def attention_weights() -> dict[str, Any]:
    return {name: draw(WIDTH, WIDTH) for name in "qkvo"}


COLUMNS, ROWS = P(None, "model"), P("model")
BLOCKS = {
    "layer": (block, block_weights, {"up": COLUMNS, "bias": ROWS, "down": ROWS}),
    "attention": (attention, attention_weights, {"q": COLUMNS, "k": COLUMNS, "v": COLUMNS, "o": ROWS}),
}


def collectives(text: str) -> list[str]:
    return [name for name in re.findall(r"comm\.(\w+)", text) if name != "rank"]


def close(found: Any, wanted: Any) -> None:
    mlc.tree_map(
        lambda a, b: np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4, atol=2e-4), found, wanted
    )


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_has_one_sum_forward_and_one_backward(name: str) -> None:
    """Column-parallel, then row-parallel products (Megatron)."""
    f, weights, specs = BLOCKS[name]
    x, w = draw(BATCH, LENGTH, WIDTH), weights()
    divided = mlc.jit(f, mesh=mlc.Mesh(model=2), shardings={"w": specs})
    assert collectives(divided.ir("graph", x, w)) == ["all_reduce"]
    close(divided.simulate(x, w), f(mnp.asarray(x), mlc.tree_map(mnp.asarray, w)))

    def gradients(x: Any, w: Any) -> Any:
        return mlc.grad(lambda x, w: mnp.sum(f(x, w) ** 2), argnums=(0, 1))(x, w)

    backward = mlc.jit(gradients, mesh=mlc.Mesh(model=2), shardings={"w": specs}, results=(P(), specs))
    assert collectives(backward.ir("graph", x, w)) == ["all_reduce", "all_reduce"]
    close(backward.simulate(x, w), mlc.jit(gradients)(x, w))


@pytest.mark.parametrize("name", BLOCKS)
def test_the_second_weight_follows_from_the_first(name: str) -> None:
    f, weights, specs = BLOCKS[name]
    x, w = draw(BATCH, LENGTH, WIDTH), weights()
    columns = {key: spec for key, spec in specs.items() if spec == COLUMNS}

    def inner(x: Any, divided: Any, others: Any) -> Any:
        return f(x, {**divided, **others})

    others = {key: w[key] for key in w if key not in columns}
    made = mlc.jit(inner, mesh=mlc.Mesh(model=2), shardings={"divided": columns})
    args = x, {key: w[key] for key in columns}, others
    assert collectives(made.ir("graph", *args)) == ["all_reduce"]
    close(made.simulate(*args), mlc.jit(f)(x, w))


def step(w: Any, x: Any) -> Any:
    loss, gradient = mlc.value_and_grad(lambda w: mnp.mean(block(x, w) ** 2))(w)
    return loss, mlc.tree_map(lambda a, g: a - 0.1 * g, w, gradient)


@pytest.mark.parametrize("axes", [{"data": 2}, {"data": 4}, {"data": 2, "model": 2}])
def test_a_step_is_data_parallel_by_the_sharding_of_the_batch(axes: dict[str, int]) -> None:
    w, x = block_weights(), draw(BATCH, LENGTH, WIDTH)
    specs = BLOCKS["layer"][2] if "model" in axes else mlc.tree_map(lambda _: P(), w)
    made = mlc.jit(step, mesh=mlc.Mesh(**axes), shardings={"x": P("data"), "w": specs}, results=(P(), specs))
    wanted = mlc.jit(step)(w, x)
    close(made.simulate(w, x), wanted)


def test_ranks_compile_and_run_it() -> None:
    """Four ranks, threads of this process: parts go in and stay, and are whole where asked."""
    w, x, specs = block_weights(), draw(BATCH, LENGTH, WIDTH), BLOCKS["layer"][2]
    mesh = mlc.Mesh(data=2, model=2)
    made = mlc.jit(step, mesh=mesh, shardings={"x": P("data"), "w": specs}, results=(P(), specs))
    one = mlc.jit(step)
    wanted = one(one(w, x)[1], x)

    def run(rank: int) -> Any:
        _, parts = made(w, x)
        assert isinstance(parts["up"], Sharded) and parts["up"].part.shape == (WIDTH, 2 * WIDTH)
        loss, parts = made(parts, mlc.shard(x, P("data"), mesh))
        return loss, {name: each.whole() for name, each in parts.items()}

    for found in comm.in_threads(4, run):
        close(found, wanted)


@pytest.mark.parametrize("ranks", [2, 4])
def test_what_a_rank_sends_is_what_the_plan_says(ranks: int) -> None:
    x, w = draw(64, 96), draw(96, 128)
    mesh = mlc.Mesh(model=ranks)
    made = mlc.jit(lambda x, w: x @ w, mesh=mesh, shardings={"x": P(None, "model"), "w": P("model")})
    sent = int(re.findall(r"a rank sends ([\d,]+)", made.plan(x, w))[0].replace(",", ""))
    assert sent == 2 * (ranks - 1) * 64 * 128 * 4 // ranks

    def run(rank: int) -> int:
        made(x, w)
        before = comm.current().sent  # type: ignore[attr-defined]
        np.testing.assert_allclose(np.asarray(made(x, w)), x @ w, rtol=1e-4, atol=1e-4)
        return comm.current().sent - before  # type: ignore[attr-defined]

    assert set(comm.in_threads(ranks, run)) == {sent}


def test_a_constraint_within_a_function_is_obeyed() -> None:
    def f(x: Any, w: Any) -> Any:
        return mnp.tanh(mlc.shard(x @ w, P("data", None))) * 2

    x, w = draw(4, 6), draw(6, 8)
    made = mlc.jit(f, mesh=mlc.Mesh(data=2), results=P("data"))
    assert collectives(made.ir("graph", x, w)) == []
    close(made.simulate(x, w), np.tanh(x @ w) * 2)
    close(mlc.jit(f)(x, w), np.tanh(x @ w) * 2)  # without a mesh it is nothing


def test_a_dimension_that_two_axes_divide() -> None:
    x = draw(8, 6)
    made = mlc.jit(lambda x: x - mnp.mean(x), mesh=mlc.Mesh(a=2, b=2), shardings={"x": P(("a", "b"))}, results=P("b"))
    close(made.simulate(x), x - x.mean())


def test_random_numbers_count_the_elements_of_all_ranks() -> None:
    def f(x: Any) -> Any:
        return x + mlc.numpy.random.normal(mlc.numpy.random.key(3), x.shape)

    x = draw(8, 6)
    made = mlc.jit(f, mesh=mlc.Mesh(data=2), shardings={"x": P("data")}, results=P("data"))
    assert collectives(made.ir("graph", x)) == []
    close(made.simulate(x), mlc.jit(f)(x))


def test_a_divided_table_is_read_and_updated_where_its_rows_are() -> None:
    def f(table: Any, at: Any) -> Any:
        return mlc.value_and_grad(lambda t: mnp.sum(mnp.tanh(t[at]) ** 2))(table)

    table, at = draw(8, 3), np.array([1, 7, 7, 0, 4, 2])
    made = mlc.jit(f, mesh=mlc.Mesh(model=2), shardings={"table": P("model")}, results=(P(), P("model")))
    assert "all_gather" not in collectives(made.ir("graph", table, at))
    close(made.simulate(table, at), mlc.jit(f)(table, at))


def test_what_is_moved_is_in_the_plan_with_the_reason() -> None:
    made = mlc.jit(lambda x: mnp.cumsum(x[::-1, :5], axis=0), mesh=mlc.Mesh(data=2), shardings={"x": P("data")})
    moved = [line for line in made.plan(draw(4, 6)).splitlines() if "MOVED" in line]
    assert len(moved) == 1 and "split 0 → whole" in moved[0]
    assert "48 bytes: graph.slice reads it whole: dimension 0: a block of it is not the same operator" in moved[0]


REFUSED = {
    "an axis": (lambda f, x: mlc.jit(f, mesh=mlc.Mesh(a=2), shardings={"x": P("b")}), "there is no axis 'b'"),
    "twice": (lambda f, x: mlc.jit(f, mesh=mlc.Mesh(a=2), shardings={"x": P("a", "a")}), "a name twice"),
    "dimensions": (lambda f, x: mlc.jit(f, mesh=mlc.Mesh(a=2), shardings={"x": P(None, None, "a")}), "does not fit"),
    "ranks": (lambda f, x: mlc.jit(f, mesh=mlc.Mesh(a=2), shardings={"x": P("a")}), "does not fit 1 ranks"),
    "no mesh": (lambda f, x: mlc.jit(f, shardings={"x": P("a")}), "shardings were given without a mesh"),
    "parameters": (lambda f, x: mlc.jit(f, mesh=mlc.Mesh(a=2), shardings={"y": P("a")}), "which are no parameters"),
    "a GPU": (lambda f, x: mlc.jit(f, mesh=mlc.Mesh(a=2), target="cuda"), "Collectives run on CPUs"),
    "donated": (lambda f, x: mlc.jit(f, mesh=mlc.Mesh(a=2), donate="x"), "a mesh does not go with static"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    make, message = REFUSED[name]
    x = draw(4, 6)
    with pytest.raises(MlcError, match=message):
        made = make(lambda x: x * 2, x)
        made(x) if name == "ranks" else made.plan(x)


def test_an_array_that_is_divided_otherwise_is_refused() -> None:
    def run(rank: int) -> str:
        mesh = mlc.Mesh(a=2)
        made = mlc.jit(lambda x: x * 2, mesh=mesh, shardings={"x": P(None, "a")})
        with pytest.raises(InputError, match="its sharding here is") as error:
            made(mlc.shard(draw(4, 6), P("a"), mesh))
        return str(error.value)

    assert all("x.whole()" in each for each in comm.in_threads(2, run))
