"""``python -m benchmarks.gpu.bundle OUT``: all that ``python -m benchmarks.gpu`` needs on a machine without a network.

``OUT`` has ``start.sh``, mlc as a folder of packages, the benchmarks and the emulation, and the wheels of what mlc
depends on, for CPython 3.12 on x86-64: 45 MB. ``sh OUT/start.sh --smoke --json rows.json`` installs the wheels that the
machine lacks, compiles mlc's extension for its Python, and begins. ``--check PYTHON`` does that in a fresh environment.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).parents[2]
TREES = ("benchmarks", "examples", "test/cuda", "runtime/c")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
MOST = 56 << 20  # bytes: with a checkout, what can be sent at once to some machines
BUILD = "from setuptools import setup; setup()"
START = r"""#!/bin/sh
# Installs what this Python lacks, and runs `python -m benchmarks.gpu` with the arguments.
here=$(cd "$(dirname "$0")" && pwd) && python=${PYTHON:-python3} || exit
export PYTHONPATH="$here/site:$here/tree${PYTHONPATH:+:$PYTHONPATH}" MLC_CACHE_DIR="${MLC_CACHE_DIR:-$here/cache}"
if [ ! -e "$here/ready" ]; then
  from="--no-index --find-links $here/wheels --no-compile --disable-pip-version-check -q"
  if [ -e "$here/wheels" ]; then
    $python -m pip install $from -r "$here/requirements.txt" ||
      $python -m pip install $from --target "$here/site" -r "$here/requirements.txt" || exit
  fi
  # Without a compiler or Python's headers calls go through cffi, a microsecond slower.
  ask='import sysconfig; print(sysconfig.get_path("include"), sysconfig.get_config_var("EXT_SUFFIX"))'
  $python -c "$ask" | while read include suffix; do
    ${CC:-gcc} -O2 -shared -fPIC -I"$include" "$here/_call.c" -o "$here/site/mlc/runtime/_call$suffix" 2>/dev/null
  done
  touch "$here/ready"
fi
exec $python -m benchmarks.gpu "$@"
"""


def requirements() -> list[str]:
    """What mlc depends on."""
    found: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return found


def assemble(out: Path) -> None:
    """Everything but the wheels."""
    out.mkdir(parents=True)
    _packages(out)
    for tree in TREES:
        for name in _tracked(tree):
            (to := out / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to)
    for name in ("_call.c", "_strings.h"):
        shutil.copyfile(ROOT / "runtime" / name, out / name)
    (out / "requirements.txt").write_text("\n".join(requirements()) + "\n")
    (out / "start.sh").write_text(START)


def _packages(out: Path) -> None:
    """mlc as Python imports it."""
    with tempfile.TemporaryDirectory() as folder:
        build = ["-q", "build", "--build-base", folder, "build_py", "--build-lib", str(out / "site")]
        subprocess.run([sys.executable, "-c", BUILD, *build], cwd=ROOT, check=True, capture_output=True)


def _tracked(tree: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", tree], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def download(out: Path, python: str, without: set[str]) -> None:
    """The wheels, but for those of some names, which the machine has."""
    options = ["--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
    options += [word for platform in PLATFORMS for word in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "download", "-q", "-d", str(out / "wheels"), *options]
    subprocess.run([*command, "-r", str(out / "requirements.txt")], check=True)
    for wheel in (out / "wheels").iterdir():
        if wheel.name.partition("-")[0].lower().replace("_", "-") in without:
            wheel.unlink()


def size(out: Path) -> int:
    return sum(each.stat().st_size for each in out.rglob("*") if each.is_file())


def check(out: Path, python: str, driver: Path | None = None) -> list[str]:
    """Run a copy in a fresh environment of a Python: what it prints. On a machine without a GPU the smoke rows end with
    a file that says so; with the folder of the tests' ``driver`` a row runs. SystemExit where that fails."""
    with tempfile.TemporaryDirectory() as folder:
        copy, venv, rows = Path(folder) / "bundle", Path(folder) / "venv", Path(folder) / "rows.json"
        shutil.copytree(out, copy, symlinks=True)
        pip = [] if (out / "wheels").exists() else ["--without-pip"]
        subprocess.run([python, "-m", "venv", *pip, str(venv)], check=True)
        path = f"{venv}/bin:/usr/local/bin:/usr/bin:/bin"
        environment = {"PATH": path, "HOME": folder, "PIP_NO_INDEX": "1", "PYTHON": f"{venv}/bin/python"}
        environment |= emulated(driver, copy) if driver else {}
        command = ["sh", str(copy / "start.sh"), "--smoke", "--json", str(rows)]
        command += ["--only", "first kernel"] if driver else []
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
        if not rows.exists() or (driver and done.returncode):
            raise SystemExit(f"the bundle does not run by {python}:\n{done.stdout}{done.stderr}"[-2000:])
        made = [each.name for each in (copy / "site/mlc/runtime").glob("_call*.so")]
        return [done.stdout.strip().splitlines()[-1], rows.read_text(), *made]


def emulated(driver: Path, copy: Path) -> dict[str, str]:
    """The environment of a process that takes the tests' driver for that of a GPU."""
    libraries = {"LD_LIBRARY_PATH": str(driver), "LD_PRELOAD": "libstdc++.so.6"}
    return libraries | {
        "FAKE_EMULATION": str(driver / "emulation.o"),
        "MLC_NVCC": str(copy / "tree/test/cuda/fake_nvcc.py"),
    }


def main(
    out: Annotated[Path, typer.Argument(help="A folder, which must not exist.")],
    python: Annotated[str, typer.Option(help="The version of Python of the machine with the GPU.")] = "3.12",
    without: Annotated[str, typer.Option(help="Names of wheels that it has: numpy,onnx.")] = "",
    wheels: Annotated[bool, typer.Option(help="Download the wheels.")] = True,
    check_python: Annotated[str | None, typer.Option("--check", help="A Python to try the bundle with.")] = None,
) -> None:
    """Make the folder, print its size."""
    assemble(out)
    if wheels:
        download(out, python, {name for name in without.lower().split(",") if name})
    print(f"{out}: {size(out) / 2**20:.1f} MiB")
    if size(out) > MOST:
        raise SystemExit(f"more than {MOST >> 20} MiB: leave out wheels that the machine has, --without numpy,onnx")
    if check_python is not None:
        print(*check(out, check_python), sep="\n")


if __name__ == "__main__":
    typer.run(main)
