"""Two real ranks under mpiexec: training, and jobs in which one rank fails."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launched import every_job, mpiexec, on_ranks, refusal

ROOT = Path(__file__).parents[2]


@pytest.fixture
def launch(tmp_path: Path):  # type: ignore[no-untyped-def]
    if why := refusal():
        pytest.skip(why)

    def run(text: str, *arguments: str, ranks: int = 2) -> tuple[int, str, float]:
        """(exit status, what it printed, seconds) of a program on ranks."""
        program = tmp_path / "program.py"
        program.write_text(text)
        return on_ranks(ranks, [sys.executable, program, *arguments], cwd=ROOT)

    return run


TRAINED = """
import hashlib
import numpy as np
from mlc import comm, nn, optim, train
from mlc.frontends.array import trees

random = np.random.default_rng(0)
x = random.normal(size=(96, 6)).astype(np.float32)
nn.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 300), nn.BatchNorm(300), nn.relu, nn.Dropout(0.1), nn.Linear(300, 2))
loss = lambda model, x, labels: nn.cross_entropy(model(x), labels)
data = train.ArrayData((x, (x.sum(1) > 0).astype(np.int64)), batch_size=24)
trainer = train.Trainer(model, optim.adam(1e-2), loss, shards=4, threads=1).fit(data, 3, progress=False)
state = b"".join(np.asarray(x).tobytes() for x in trees.leaves(trainer.state))
line = f"{comm.current().ranks} ranks: {hashlib.sha256(state).hexdigest()}"
ranks = np.asarray(comm.all_gather(comm.rank()[None]))
if comm.current().rank == 0:
    print(*ranks, line)
"""


@every_job
def test_real_ranks_have_the_bits_of_one_process(launch) -> None:  # type: ignore[no-untyped-def]
    lines = [launch(TRAINED, ranks=ranks)[1].strip().splitlines()[-1] for ranks in (1, 2)]
    assert lines[0].startswith("0 1 ranks") and lines[1].startswith("0 1 2 ranks"), lines
    assert len({line.split()[-1] for line in lines}) == 1, lines


FAILING = """
import os, signal, sys
import numpy as np
import mlc
from mlc import comm

how, rank = sys.argv[1], comm.current().rank
f = mlc.jit(lambda x: comm.all_reduce(x * (2 + (how == "other" and rank))), wait=True)
x = np.ones(100_000, np.float32)
for step in range(1000):
    f(x)
    if step == 5 and rank == 1:
        if how == "raise":
            raise ValueError("the data are damaged")
        if how in ("kill", "stop"):
            os.kill(os.getpid(), signal.SIGKILL if how == "kill" else signal.SIGSTOP)
        if how == "end":
            sys.exit(0)
"""


def test_an_error_of_one_rank_ends_the_job(launch) -> None:  # type: ignore[no-untyped-def]
    status, text, _ = launch(FAILING, "raise")
    assert status != 0 and "[rank 1 of 2] ValueError: the data are damaged" in text


def test_a_killed_rank_ends_the_job(launch) -> None:  # type: ignore[no-untyped-def]
    status, text, seconds = launch(FAILING, "kill")
    assert status != 0 and seconds < 60, text


@every_job
@pytest.mark.parametrize("how", ["stop", "end"])
def test_a_rank_that_does_not_come_is_named_at_the_limit(
    launch,  # type: ignore[no-untyped-def]
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MLC_COMM_LIMIT", "8")
    status, text, seconds = launch(FAILING, how)
    assert status != 0 and seconds < 90, text
    assert "nothing comes from rank 1" in text or "a message from rank 1 failed" in text, text


def test_ranks_with_different_programs_do_not_begin(launch) -> None:  # type: ignore[no-untyped-def]
    status, text, _ = launch(FAILING, "other")
    assert status != 0 and "runs another program than rank" in text


@every_job
def test_the_example_learns_on_two_ranks(launch) -> None:  # type: ignore[no-untyped-def]
    text = "import sys, runpy; sys.path.insert(0, '.'); sys.argv[1:] = ['--steps', '40']\n"
    status, printed, _ = launch(text + "runpy.run_module('examples.distributed.digits', run_name='__main__')")
    assert status == 0 and "of the test images are read" in printed, printed


BEGIN = """
#include <stdio.h>
#include "mlc_comm_mpi.h"
#include "net.h"

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  const mlc_comm *comm = mlc_comm_mpi_open(MPI_COMM_WORLD, 60);
  net_model *model = net_create(NULL, 1);
"""
"""A C program of a rank, with its communicator and the model."""
PROGRAM = """
  float x[3] = {1, 2, 3}, y[3];
  if (net_run(model, (const void *[]){x}, (void *[]){y}, NULL, NULL)) printf("not yet: %s\\n", net_error());
  if (!comm || net_join(model, comm)) return printf("%s\\n", net_error()), 1;
  for (int n = 0; n < 3; n++) x[n] += comm->rank;
  if (net_run(model, (const void *[]){x}, (void *[]){y}, NULL, NULL)) return printf("%s\\n", net_error()), 1;
  printf("%g %g %g\\n", y[0], y[1], y[2]);
  net_destroy(model);
  MPI_Finalize();
}
"""


def run_in_c(text: str, folder: Path) -> tuple[int, str]:
    """(exit status, what it printed) of a C program with the model ``net.so`` of a folder, on two ranks."""
    from mlc import comm

    (folder / "program.c").write_text((BEGIN + text).replace("net_", prefix(folder / "net.h")))
    compiler = shutil.which("mpicc", path=str(Path(str(mpiexec())).parent)) or "mpicc"
    flags = ["-Wall", "-Werror", *(f"-I{each}" for each in (folder, *comm.include()))]
    link = [str(folder / "net.so"), f"-Wl,-rpath,{folder}"]
    subprocess.run([compiler, *flags, str(folder / "program.c"), "-o", str(folder / "program"), *link], check=True)
    return on_ranks(2, [folder / "program"])[:2]


def test_a_c_program_gives_a_model_its_ranks(launch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    import mlc
    from mlc import comm

    mlc.jit(lambda x: comm.all_reduce(x)).lower(mlc.TensorSpec("float32", (3,))).save(tmp_path / "net.so")
    status, printed = run_in_c(PROGRAM, tmp_path)
    assert status == 0, printed
    assert printed.count("3 5 7") == 2 and printed.count("has collectives: call") == 2


def prefix(header: Path) -> str:
    """The prefix of the functions that a header declares."""
    name = next(line for line in header.read_text().splitlines() if "_abi_version(void)" in line)
    return name.split()[1].removesuffix("abi_version(void);")


BLOCKS = """
  if (!comm || net_join(model, comm)) return printf("%s\\n", net_error()), 1;
  float x[3] = {1, 2, 3}, y[1];
  for (int64_t whole = 5; whole; whole--) {
    const int64_t dims[] = {whole, whole / 2 + (comm->rank < whole % 2)}; /* batch, data_batch */
    if (net_run(model, (const void *[]){x, NULL}, (void *[]){y}, dims, NULL)) return printf("%s\\n", net_error()), 1;
    printf("%g of %d\\n", y[0], (int)whole);
  }
  const int64_t wrong[] = {5, 1};
  if (net_run(model, (const void *[]){x, NULL}, (void *[]){y}, wrong, NULL)) printf("%s\\n", net_error());
  net_destroy(model);
  MPI_Finalize();
}
"""


def test_a_c_program_gives_ranks_blocks_of_any_batch(launch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A block of 2 has the rows 1 and 2: batches of 5, 4, …, 1 rows have the sums 9, 6, 4, 2, 1."""
    import mlc
    import mlc.numpy as mnp

    total = mlc.jit(lambda x: mnp.sum(x), mesh=mlc.Mesh(data=2), shardings={"x": mlc.P("data")})
    total.save(tmp_path / "net.so", mlc.TensorSpec("float32", ("batch",)))
    status, printed = run_in_c(BLOCKS, tmp_path)
    assert status == 0, printed
    for rows, wanted in enumerate((1, 2, 4, 6, 9), 1):
        assert printed.count(f"{wanted} of {rows}\n") == 2, printed
    assert printed.count("A block of batch in 2") == 2, printed


def test_a_job_that_hangs_is_killed_at_its_limit() -> None:
    if why := refusal():
        pytest.skip(why)
    status, _, seconds = on_ranks(2, [sys.executable, "-c", "import time; time.sleep(600)"], limit=2)
    assert status != 0 and seconds < 60
