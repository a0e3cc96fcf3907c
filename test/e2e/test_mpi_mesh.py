"""A mesh of real MPI ranks, where mpi4py and a launcher are: parts go in, results are those of one process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from launched import every_job, on_ranks, refusal

PROGRAM = """
import numpy as np, mlc, mlc.numpy as mnp
from mlc import P, comm
random = np.random.default_rng(0)
x, a, b = (random.normal(size=s).astype("float32") for s in ((8, 6), (6, 8), (8, 6)))
def step(w, x):
    loss, g = mlc.value_and_grad(lambda w: mnp.mean((mnp.tanh(x @ w["a"]) @ w["b"]) ** 2))(w)
    return loss, mlc.tree_map(lambda p, q: p - 0.1 * q, w, g)
specs = {"a": P(None, "model"), "b": P("model")}
mesh = mlc.Mesh(data=2, model=comm.current().ranks // 2)
divided = mlc.jit(step, mesh=mesh, shardings={"x": P("data"), "w": specs}, results=(P(), specs))
parts = whole = {"a": a, "b": b}
for _ in range(3):
    (_, parts), (_, whole) = divided(parts, x), mlc.jit(step)(whole, x)
opened = mlc.jit(lambda x, w: (mnp.mean(x @ w), x), mesh=mesh, shardings={"x": P("data")}, shapes={"x": ("n", 6)})
for n in (5, 1):
    for found, wanted in zip(opened(x[:n], a), (np.mean(x[:n] @ a), x[:n])):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-6)
for name in whole:
    np.testing.assert_allclose(parts[name].whole(), np.asarray(whole[name]), rtol=1e-5, atol=1e-6)
print("equal")
"""


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=every_job)])
def test_a_step_on_a_mesh(ranks: int, tmp_path: Path) -> None:
    if why := refusal():
        pytest.skip(why)
    (tmp_path / "step.py").write_text(PROGRAM)
    _, printed, _ = on_ranks(ranks, [sys.executable, tmp_path / "step.py"])
    assert printed.count("equal") == ranks, printed
