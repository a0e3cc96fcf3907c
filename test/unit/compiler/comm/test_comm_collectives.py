"""Collectives: meaning on many ranks, derivatives, batches, and the C code on ranks that are threads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.errors import InputError, MlcError, RunError

Data = np.ndarray[Any, Any]


def draw(*shape: int, dtype: str = "float32") -> Data:
    values = np.random.default_rng().normal(size=shape) * 50
    return values.astype(dtype)


def compiled(f: Callable[..., Any], ranks: int, *args: Data, path: Path) -> list[Any]:
    """What compiled code gives on each rank, as threads: ``args`` have the ranks as first axis."""
    with comm.traced_for(ranks):
        mlc.jit(f).lower(*(mlc.TensorSpec(x.dtype, x.shape[1:]) for x in args)).save(path)
    model_on = lambda rank: mlc.load(path, threads=1 + rank % 2)(*(x[rank] for x in args))  # noqa: E731
    return comm.in_threads(ranks, model_on, limit=20)


COLLECTIVES: dict[str, tuple[Callable[[Any], Any], Callable[[Data], Data]]] = {
    "sum": (comm.all_reduce, lambda x: np.stack([x.sum(0)] * len(x))),
    "mean": (lambda x: comm.all_reduce(x, "mean"), lambda x: np.stack([x.mean(0)] * len(x))),
    "max": (lambda x: comm.all_reduce(x, "max"), lambda x: np.stack([x.max(0)] * len(x))),
    "min": (lambda x: comm.all_reduce(x, "min"), lambda x: np.stack([x.min(0)] * len(x))),
    "reduce_scatter": (comm.reduce_scatter, lambda x: np.stack(np.split(x.sum(0), len(x)))),
    "reduce_scatter of axis 1": (
        lambda x: comm.reduce_scatter(x, axis=1),
        lambda x: np.stack(np.split(x.sum(0), len(x), axis=1)),
    ),
    "all_gather": (comm.all_gather, lambda x: np.stack([np.concatenate(x)] * len(x))),
    "all_gather of axis 1": (
        lambda x: comm.all_gather(x, axis=-1),
        lambda x: np.stack([np.concatenate(x, axis=-1)] * len(x)),
    ),
    "all_to_all": (
        comm.all_to_all,
        lambda x: x.reshape(len(x), len(x), -1, x.shape[-1]).swapaxes(0, 1).reshape(x.shape),
    ),
    "broadcast": (lambda x: comm.broadcast(x, 1), lambda x: np.stack([x[1]] * len(x))),
    "permute": (
        lambda x: comm.permute(x, [(0, 1), (1, 0)]),
        lambda x: np.stack([x[1], x[0], *np.zeros_like(x[2:])]),
    ),
    "barrier": (comm.barrier, lambda x: x),
}


@pytest.mark.parametrize("name", COLLECTIVES)
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_a_collective_is_its_formula(name: str, ranks: int) -> None:
    f, formula = COLLECTIVES[name]
    x = draw(ranks, 2 * ranks, ranks)
    assert np.allclose(comm.simulate(f, ranks)(x), formula(x), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_compiled_collectives_have_the_bits_of_the_meaning(ranks: int, tmp_path: Path) -> None:
    def f(x: Any, n: Any, large: Any) -> Any:
        found = [collective(x) for collective, _ in COLLECTIVES.values()]
        integers = [comm.all_reduce(n, op) for op in ("sum", "max", "min", "prod")]
        return found, integers, comm.rank(), comm.world(), comm.all_reduce(large), comm.all_reduce(x[0, 0] > 0, "max")

    given = draw(ranks, 2 * ranks, ranks), draw(ranks, 7, dtype="int8"), draw(ranks, 5003)
    wanted = mlc.tree_map(np.asarray, comm.simulate(f, ranks)(*given))
    leaves: list[Data] = []
    mlc.tree_map(leaves.append, wanted)
    for rank, found in enumerate(compiled(f, ranks, *given, path=tmp_path / "f.so")):
        for value, want in zip(found, leaves, strict=True):
            assert np.array_equal(value, want[rank], equal_nan=True)


def test_nan_and_special_values_go_through(tmp_path: Path) -> None:
    x = np.array([[np.nan, 1, -np.inf, 0], [2, np.nan, np.inf, -0.0]], "float32")
    f = lambda x: [comm.all_reduce(x, op) for op in ("sum", "max", "min")]  # noqa: E731
    wanted = [x.sum(0), x.max(0), x.min(0)]
    for found in compiled(f, 2, x, path=tmp_path / "f.so"):
        for value, want in zip(found, wanted, strict=True):
            assert np.array_equal(value, want, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8", "uint32", "float16", "bfloat16", "bool", "complex64"])
def test_element_types(dtype: str) -> None:
    x = np.abs(draw(3, 4)).astype("float32") > 20 if dtype == "bool" else np.abs(draw(3, 4)).astype("float32")
    total = comm.simulate(lambda x: mnp.astype(comm.all_reduce(mnp.astype(x, dtype)), "float32"), 3)
    if dtype == "complex64":
        total = comm.simulate(lambda x: mnp.real(comm.all_reduce(mnp.astype(x, dtype))), 3)
    exact = np.asarray(mnp.astype(mnp.asarray(x), dtype).astype("complex64" if dtype == "complex64" else "float64"))
    wanted = exact.sum(0).astype("uint8") if dtype == "uint8" else exact.sum(0).real
    assert np.allclose(np.asarray(total(x))[0], wanted, rtol=1e-2 if "16" in dtype else 1e-6)


DIFFERENTIATED = [name for name in COLLECTIVES if name not in ("max", "min")]


@pytest.mark.parametrize("name", [*DIFFERENTIATED, "max", "min"])
def test_the_derivative_is_that_of_all_ranks_together(name: str) -> None:
    """The adjoint of a collective, a linear function of all ranks' values, is the transpose of its matrix; that of a
    maximum by differences."""
    ranks, f = 3, COLLECTIVES[name][0]
    x, v = draw(ranks, 3, 3, dtype="float64"), draw(ranks, 3, 3, dtype="float64")
    y = np.asarray(comm.simulate(f, ranks)(x))
    w = np.random.default_rng(1).normal(size=y.shape)

    def gradient(x: Any, w: Any) -> Any:
        return mlc.grad(lambda x: mnp.sum(f(x) * w))(x)

    found = np.asarray(comm.simulate(gradient, ranks)(x, w))
    step = 1e-6
    plus, minus = (np.asarray(comm.simulate(f, ranks)(x + s * step * v)) for s in (1, -1))
    assert np.isclose((found * v).sum(), ((plus - minus) / (2 * step) * w).sum(), rtol=1e-5, atol=1e-5)


def test_forward_mode() -> None:
    x, v = draw(3, 3, 3, dtype="float64"), draw(3, 3, 3, dtype="float64")
    f = lambda x: comm.all_reduce(x * x) + comm.broadcast(x, 1)  # noqa: E731
    found = comm.simulate(lambda x, v: mlc.jvp(f, (x,), (v,))[1], 3)(x, v)
    assert np.allclose(found, 2 * (x * v).sum(0) + v[1])


@pytest.mark.parametrize("name", COLLECTIVES)
def test_a_batch_is_each_element(name: str) -> None:
    f, ranks = COLLECTIVES[name][0], 2
    x = draw(ranks, 3, 4, 2)
    found = np.asarray(comm.simulate(mlc.vmap(f), ranks)(x))
    one_by_one = [np.asarray(comm.simulate(f, ranks)(x[:, n])) for n in range(3)]
    assert np.array_equal(found, np.stack(one_by_one, axis=1))


def test_collectives_in_a_loop_and_in_place(tmp_path: Path) -> None:
    """Loop-carried values have two buffers, and a collective reads one while the other is written."""

    def f(x: Any) -> Any:
        return mlc.fori_loop(0, 4, lambda n, x: comm.all_reduce(x * 0.5) + x, x)

    x = draw(2, 1000)
    wanted = np.asarray(comm.simulate(f, 2)(x))
    for rank, found in enumerate(compiled(f, 2, x, path=tmp_path / "f.so")):
        assert np.array_equal(found, wanted[rank])


def test_64_ranks() -> None:
    x = draw(64, 8)
    tree = x
    while len(tree) > 1:
        tree = tree[::2] + tree[1::2]
    assert np.array_equal(comm.simulate(comm.all_reduce, 64)(x)[17], tree[0])


def test_one_rank_alone() -> None:
    x = draw(3)
    f = mlc.jit(lambda x: (comm.all_reduce(x), comm.world(), comm.all_gather(x)), wait=True)
    total, ranks, all_ = f(x)
    assert comm.size() == 1 and int(ranks) == 1 and np.array_equal(total, x) and np.array_equal(all_, x)
    assert np.array_equal(comm.all_reduce(x, "mean"), x) and int(comm.rank()) == 0


def test_other_programs_on_ranks_are_refused(tmp_path: Path) -> None:
    for n in range(2):
        mlc.jit(lambda x, n=n: comm.all_reduce(x) * (n + 2.5)).lower(draw(3)).save(tmp_path / f"f{n}.so")
    with pytest.raises(RunError, match=r"rank [01] runs another program than rank [01]"):
        comm.in_threads(2, lambda rank: mlc.load(tmp_path / f"f{rank}.so")(draw(3)), limit=5)


def test_a_missing_rank_is_named_with_the_line(tmp_path: Path) -> None:
    mlc.jit(lambda x: comm.all_reduce(x)).lower(draw(3)).save(tmp_path / "f.so")

    def run(rank: int) -> Any:
        model = mlc.load(tmp_path / "f.so")
        found = model(draw(3))
        return found if rank == 1 else model(draw(3))

    where = r"comm.all_reduce at test_comm_collectives.py:\d+ "
    what = rf"rank [02] of 3 waited 0.5 s for {where}.*nothing comes from rank 1"
    with pytest.raises(RunError, match=what):
        comm.in_threads(3, run, limit=0.5)


def test_a_rank_that_never_joins(tmp_path: Path) -> None:
    mlc.jit(lambda x: comm.all_reduce(x)).lower(draw(3)).save(tmp_path / "f.so")
    with pytest.raises(RunError, match=r"waited 0.3 s for the join .*nothing comes from rank 1"):
        comm.in_threads(2, lambda rank: rank == 1 or mlc.load(tmp_path / "f.so")(draw(3)), limit=0.3)


def test_a_run_after_a_failed_one_fails_at_once(tmp_path: Path) -> None:
    mlc.jit(lambda x: comm.all_reduce(x)).lower(draw(3)).save(tmp_path / "f.so")

    def run(rank: int) -> Any:
        model = mlc.load(tmp_path / "f.so")
        model(draw(3))
        if rank == 0:
            with pytest.raises(RunError, match="nothing comes"):
                model(draw(3))
            with pytest.raises(RunError, match="an earlier run has failed"):
                model(draw(3))

    comm.in_threads(2, run, limit=0.3)


def test_another_number_of_ranks_is_refused(tmp_path: Path) -> None:
    with comm.traced_for(4):
        mlc.jit(comm.all_gather).lower(draw(3)).save(tmp_path / "f.so")
    with pytest.raises(RunError, match="is for 4 ranks, and there are 2"):
        comm.in_threads(2, lambda rank: mlc.load(tmp_path / "f.so")(draw(3)), limit=5)


def test_ranks_at_different_collectives() -> None:
    from mlc.dialects.comm.world import current, simulated

    def run(rank: int) -> None:
        x = mnp.asarray(np.ones(3, np.float32))
        np.asarray(comm.all_reduce(x) if current().rank else comm.broadcast(x))

    with pytest.raises(RunError, match=r"Rank 0 is at comm.broadcast.*and rank 1 at comm.all_reduce"):
        simulated(2, run)


@pytest.mark.parametrize(
    "f, message",
    [
        (lambda x: comm.all_reduce(x, "median"), "'median' over ranks"),
        (lambda x: comm.reduce_scatter(x, ranks=2), "3 elements, which 2 ranks do not divide"),
        (lambda x: comm.all_to_all(x, ranks=2), "3 elements, which 2 ranks do not divide"),
        (lambda x: comm.all_gather(x[0], ranks=2), "rank 0"),
        (lambda x: comm.broadcast(x, -1), "from rank -1"),
        (lambda x: comm.permute(x, [(0, 1), (0, 2)]), "sends twice"),
        (lambda x: comm.permute(x, [(0, 1), (2, 1)]), "receives twice"),
        (lambda x: comm.all_reduce(mnp.astype(x, "int32"), "mean"), "Cast to a float"),
        (lambda x: comm.all_reduce(mnp.astype(x, "complex64"), "max"), "complex"),
    ],
)
def test_what_is_refused(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        f(mnp.asarray(draw(3)))


def test_a_collective_in_a_branch_is_refused() -> None:
    f = mlc.jit(lambda x: mlc.cond(x[0] > 0, comm.all_reduce, lambda x: x, x))
    with pytest.raises(MlcError, match="a collective in a branch: not all ranks may come to it"):
        f(draw(3))


def test_a_collective_in_a_loop_that_data_end_is_refused() -> None:
    f = mlc.jit(lambda x: mlc.while_loop(lambda x: x[0] < 5, lambda x: comm.all_reduce(x) + 1, x))
    with pytest.raises(MlcError, match="a loop whose number of iterations depends on data"):
        f(draw(3))
