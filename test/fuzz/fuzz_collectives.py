"""Random programs with collectives: compiled, on ranks that are threads, beside the simulation of all ranks in NumPy.

    python test/fuzz/fuzz_collectives.py --seconds 60 [--seed N]

A program is a sequence of elementwise operators, products, moves, loops and collectives on square matrices. Some of its
arguments are donated: then results are written into their memory while collectives are under way.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from mlc import comm

Random = np.random.Generator
ARGUMENTS = 3


def collectives(size: int, ranks: int, random: Random) -> list[Callable[[Any], Any]]:
    root, op = int(random.integers(ranks)), str(random.choice(["mean", "max", "min"]))
    order = random.permutation(ranks)
    pairs = [(int(a), int(b)) for a, b in zip(range(ranks), order, strict=True)][: int(random.integers(1, ranks + 1))]
    return [
        lambda x: comm.all_reduce(x, op),
        lambda x: comm.broadcast(x, root),
        lambda x: comm.permute(x, pairs),
        lambda x: comm.all_to_all(x, axis=int(root % 2)),
        lambda x: comm.all_gather(comm.reduce_scatter(x, "mean", axis=1), axis=1),
        lambda x: comm.all_gather(x[: size // ranks]) + x,
        lambda x: x * mnp.astype(comm.rank() + 1, "float32") / mnp.astype(comm.world(), "float32"),
        comm.barrier,
        lambda x: mlc.fori_loop(0, 3, lambda n, y: comm.all_reduce(mnp.tanh(y + x), "mean"), x),
        lambda x: mlc.value_and_grad(lambda y: mnp.mean(mnp.tanh(comm.all_reduce(y, "mean")) * y))(x)[1] * size,
    ]


def locals_of(random: Random) -> list[Callable[[Any, Any], Any]]:
    scale = float(random.uniform(0.5, 1.5))
    return [
        lambda a, b: mnp.tanh(a @ b),
        lambda a, b: a * scale + b,
        lambda a, b: mnp.where(a > b, a, -b),
        lambda a, b: a.T - mnp.mean(b, axis=0),
        lambda a, b: mnp.concat([b[1:], a[:1]]),
        lambda a, b: mnp.flip(a, axis=0) * mnp.cos(b),
    ]


def program(seed: int, ranks: int, size: int) -> tuple[Callable[..., Any], list[str]]:
    """A function of ``ARGUMENTS`` matrices, and which of its arguments are donated."""
    random = np.random.default_rng(seed)
    steps = [(int(random.integers(16)), random.random(2), int(random.integers(1 << 30))) for _ in range(12)]
    kept = [int(n) for n in random.permutation(6)[:ARGUMENTS]]

    def f(a: Any, b: Any, c: Any) -> Any:
        values = [a, b, c]
        for kind, at, number in steps:
            x, y = (values[int(each * len(values))] for each in at)
            draw = np.random.default_rng(number)
            if kind < 10:
                values.append(collectives(size, ranks, draw)[kind](x))
            else:
                values.append(locals_of(draw)[kind - 10](x, y))
        return tuple(values[-1 - n] for n in kept)

    donated = [name for name in "abc" if random.random() < 0.4]
    return f, donated


def check(seed: int, folder: Path) -> None:
    """Raises AssertionError where a rank's result differs from the simulation's."""
    ranks = (2, 3, 4)[seed % 3]
    size = ranks * (4, 9, 24)[seed // 3 % 3]
    f, donated = program(seed, ranks, size)
    given = np.random.default_rng(seed).normal(size=(ARGUMENTS, ranks, size, size)).astype(np.float32)
    wanted = [np.asarray(y) for y in comm.simulate(f, ranks)(*given)]
    path = folder / f"f{seed}.so"
    with comm.traced_for(ranks):
        mlc.jit(f, donate=donated).lower(*(mlc.TensorSpec(x.dtype, x.shape[1:]) for x in given)).save(path)

    def run(rank: int) -> list[Any]:
        model = mlc.load(path, threads=1 + rank % 2)
        first, again = (model(*(x[rank] for x in given)) for _ in range(2))
        assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(first, again, strict=True)), "other bits"
        return list(first)

    for rank, found in enumerate(comm.in_threads(ranks, run, limit=60)):
        for n, (x, y) in enumerate(zip(found, wanted, strict=True)):
            np.testing.assert_allclose(x, y[rank], rtol=2e-4, atol=2e-4, err_msg=f"seed {seed}, rank {rank}, y{n}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    given = parser.parse_args()
    end, seed = time.monotonic() + given.seconds, given.seed
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            check(seed, Path(folder))
            seed += 1
    print(f"{seed - given.seed} programs with collectives: compiled as simulated")


if __name__ == "__main__":
    main()
