"""The recipes for schedulers, as the page has them, run against stand-ins, which check what is asked of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "run-under-a-scheduler.md"
SRUN = """#!/bin/sh
echo "$MLC_COMM_LIMIT $@" > "$ASKED"
for word in "$@"; do case $word in --*) shift;; *) break;; esac; done
exec "$@"
"""


def recipe(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    return str(found)


def test_slurm(tmp_path: Path) -> None:
    """The script is bash, and runs the program by srun with an interface of MPI."""
    (tmp_path / "srun").write_text(SRUN)
    (tmp_path / "srun").chmod(0o755)
    (tmp_path / "train.py").write_text("print('trained')")
    (tmp_path / "job.sh").write_text(text := recipe("sh"))
    environment = {**os.environ, "ASKED": str(tmp_path / "asked"), "HOME": str(tmp_path)}
    environment["PATH"] = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "job.sh"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "trained\n", done.stderr
    assert (tmp_path / "asked").read_text().split() == ["300", "--mpi=pmi2", "--cpu-bind=cores", "python", "train.py"]
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)$", text, re.M))
    assert {"nodes", "ntasks-per-node", "cpus-per-task"} <= options.keys()


def leaves(text: str) -> dict[str, str]:
    """The scalars of a YAML text of mappings and lists, by their path: ``spec.slotsPerWorker``."""
    path: list[tuple[int, str]] = []
    found = {}
    for line in text.splitlines():
        depth, key, value = re.fullmatch(r"( *(?:- )?)([\w]+):(.*)", line).groups()  # type: ignore[union-attr]
        path = [each for each in path if each[0] < len(depth)] + [(len(depth), key)]
        if value.strip():
            found[".".join(name for _, name in path)] = value.strip()
    return found


def test_mpi_job() -> None:
    """The ranks that mpiexec starts are the slots of the workers."""
    job = leaves(recipe("yaml"))
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")
    containers = {kind: f"spec.mpiReplicaSpecs.{kind}.template.spec.containers" for kind in ("Launcher", "Worker")}
    command = json.loads(job[f"{containers['Launcher']}.command"])
    assert command[:2] == ["mpiexec", "-n"] and command[3] == "python"
    assert int(command[2]) == int(job["spec.mpiReplicaSpecs.Worker.replicas"]) * int(job["spec.slotsPerWorker"])
    assert job[f"{containers['Worker']}.image"] == job[f"{containers['Launcher']}.image"]
    assert job["spec.mpiImplementation"] == "MPICH"


def test_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task reserves the processors of all ranks, and starts them by the command of mlc."""
    asked: dict[str, Any] = {}

    def remote(**options: Any) -> Any:
        asked.update(options)
        return lambda f: types.SimpleNamespace(remote=f)

    def run(command: list[str], check: bool) -> Any:
        asked["command"] = command
        return types.SimpleNamespace(returncode=0)

    stand_in = types.ModuleType("ray")
    stand_in.__dict__.update(remote=remote, init=lambda: None, get=lambda value: value)
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.setattr(subprocess, "run", run)
    exec(compile(recipe("python"), str(PAGE), "exec"), {})
    assert asked["num_cpus"] == 8 and asked["max_retries"] == 3
    assert asked["command"][1:] == ["-m", "mlc", "run", "train.py", "--ranks", "4"]
