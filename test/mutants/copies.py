"""Copies of the working tree in which faults are planted, each with an environment that imports mlc from it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("test/mutants/", "test/unit/test_mutants.py")  # they would see that a patch is applied
SCRIPTS = ("mlc", "mlc-opt", "filecheck", "lit")
FINDER = '''import sys
from importlib.util import spec_from_file_location

HOMES = {homes!r}


class Finder:
    """Packages in the folders that pyproject.toml gives them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        home = HOMES.get(name)
        return home and spec_from_file_location(name, home + "/__init__.py", submodule_search_locations=[home])


sys.meta_path.insert(0, Finder)
'''
ENDED = "at the limit"
FAILURE = re.compile(r"^(?:FAILED|ERROR) (test/[^\s\[]+(?:\[.*?\])?)(?= - |$)|^(?:\s*|FAIL: )mlc :: (\S+\.mlir)", re.M)
"""Pytest's summary of a test, whose parameters may have spaces; and lit's."""


@dataclass(frozen=True)
class Copy:
    """``folder`` has the sources in ``tree``, a git repository, and a virtual environment ``venv``."""

    folder: Path

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    def make(self) -> None:
        """Copy the tracked and the new files, and what was compiled at installation."""
        shutil.rmtree(self.folder, ignore_errors=True)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        built = [str(path.relative_to(ROOT)) for path in (ROOT / "runtime").glob("_call*.so")]
        for name in (*filter(None, names), *built):
            if not name.startswith(LEFT_OUT) and (ROOT / name).exists():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        self._git("init", "-q")
        self._git("add", "-A")
        self._git("-c", "user.name=mutants", "-c", "user.email=mutants@localhost", "commit", "-qm", "all")
        self._environment()

    def _environment(self) -> None:
        venv.create(self.folder / "venv", symlinks=True)
        site = next((self.folder / "venv" / "lib").glob("*/site-packages"))
        here = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
        homes = {name: str(self.tree / folder) for name, folder in here.items()}
        (site / "mutant_finder.py").write_text(FINDER.format(homes=homes))
        installed = [path for path in sys.path if path.endswith("-packages")]
        (site / "mutant.pth").write_text("\n".join([*installed, "import mutant_finder"]) + "\n")
        for name in SCRIPTS:
            script = (Path(sys.executable).parent / name).read_text().partition("\n")[2]
            (self.python.parent / name).write_text(f"#!{self.python}\n{script}")
            (self.python.parent / name).chmod(0o755)

    def _git(self, *command: str) -> None:
        subprocess.run(["git", *command], cwd=self.tree, check=True, capture_output=True)

    def plant(self, patch: Path, files: tuple[str, ...]) -> None:
        """Apply a patch. CalledProcessError where it does not fit."""
        self._git("apply", str(patch))
        self._forget(files)

    def restore(self, files: tuple[str, ...]) -> None:
        """Undo everything that was changed or made, but for Python's caches."""
        self._git("reset", "-q", "--hard")
        self._git("clean", "-fdq")
        self._forget(files)

    def _forget(self, files: tuple[str, ...]) -> None:
        """Remove byte code, whose time stamps are of whole seconds, of changed files; and mlc's compile cache."""
        for file in files:
            for code in (self.tree / file).parent.glob(f"__pycache__/{Path(file).stem}.*"):
                code.unlink()
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def first_failure(self, tests: list[str], seconds: float) -> str | None:
        """The first of the tests that fails; ``ENDED`` where time is up; None: all pass."""
        end = time.monotonic() + seconds
        lit = [test for test in tests if test.startswith("test/filecheck")]
        rest = [test for test in tests if test not in lit]
        main = [str(self.python), "-c", "from lit.main import main; main()", "-q", "--max-failures=1", "-j2"]
        checks = [*main, "--param", f"exec_root={self.folder / 'lit'}", *lit] if lit else []
        pytest = [str(self.python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout=300", *rest]
        for command in filter(None, (checks, pytest if rest else [])):
            if found := self._failure(command, end - time.monotonic()):
                return found
        return None

    def _failure(self, command: list[str], seconds: float) -> str | None:
        env = {**os.environ, "MLC_CACHE_DIR": str(self.folder / "cache")}
        env.pop("PYTHONPATH", None)
        process = subprocess.Popen(command, cwd=self.tree, env=env, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
        try:
            said, _ = process.communicate(timeout=max(seconds, 1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return ENDED
        if found := FAILURE.search(said):
            return found[1] or f"test/filecheck/{found[2]}"
        if process.returncode < 0:  # a crash of what is tested takes pytest along
            return next(each for each in command if each.startswith("test/"))
        if process.returncode not in (0, 5):  # 5: no test collected
            raise SystemExit(f"{' '.join(command)} failed:\n{said[-4000:]}")
        return None
