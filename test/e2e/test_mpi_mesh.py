"""A mesh of real MPI ranks, where mpi4py and a launcher are: parts go in, results are those of one process."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
for name in whole:
    np.testing.assert_allclose(parts[name].whole(), np.asarray(whole[name]), rtol=1e-5, atol=1e-6)
print("equal")
"""


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_step_on_a_mesh(ranks: int, tmp_path: Path) -> None:
    launcher = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if launcher is None or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("pip install 'mlc[mpi]'")
    (tmp_path / "step.py").write_text(PROGRAM)
    command = [launcher, "-n", str(ranks), sys.executable, str(tmp_path / "step.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.count("equal") == ranks, done.stdout + done.stderr
