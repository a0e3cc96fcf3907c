"""Pages whose commands are run from the first to the last, and README's commands; with gcc, and with ziglang alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from seeds import drawn

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
import session  # noqa: E402
import update  # noqa: E402

TUTORIAL = (DOCS / "tutorial.md").read_text()
COMPILER = re.compile(r"(.*-)?(cc|c\+\+|gcc|g\+\+|cpp|c\d\d|clang(\+\+|-cpp)?|tcc|zig)(-[\d.]+)?")
needs_zig = pytest.mark.skipif(not find_spec("ziglang"), reason="needs ziglang")


@pytest.fixture(scope="module")
def without_compilers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with all programs of this machine but the C compilers."""
    folder = tmp_path_factory.mktemp("bin")
    for directory in reversed(os.environ["PATH"].split(":")):
        for program in Path(directory).glob("*") if directory else ():
            if not COMPILER.fullmatch(program.name) and program.parent != Path(sys.executable).parent:
                (folder / program.name).unlink(missing_ok=True)
                (folder / program.name).symlink_to(program)
    assert not shutil.which("cc", path=str(folder)) and shutil.which("sed", path=str(folder))
    return str(folder)


def zig_as_cc() -> str:
    """The lines of the tutorial and of the page on static linking that name zig's compiler `cc` and `$CC`."""
    pages = TUTORIAL + (DOCS / "howto/link-statically.md").read_text()
    return "\n".join(re.findall(r"^(?:cc\(\) |export CC=).*$", pages, re.M))


@pytest.mark.parametrize("page", update.SESSIONS, ids=lambda page: page.stem)
def test_pages_show_what_is_printed(page: Path) -> None:
    assert update.updated(page) == page.read_text(), f"{page.name} is stale: run python docs/update.py"


@needs_zig
@pytest.mark.parametrize("page", drawn(update.SESSIONS, 1, "zig"), ids=lambda page: page.stem)
def test_pages_on_a_machine_with_ziglang_alone(page: Path, without_compilers: str) -> None:
    """As written, and the same outputs; one page, which is drawn (``--whole``: all). What stops at a stage calls no C
    compiler, and is not repeated here; zig's libraries name the parts of libc one by one (`ldd`)."""
    found = session.replayed_page(page, path=without_compilers, setup=zig_as_cc(), skipped="--emit|mlc-opt|ldd")
    assert found == page.read_text()


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("zig", marks=needs_zig)])
def test_the_commands_of_the_readme(compiler: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """On the tutorial's network. Measuring takes seconds by default, and less here."""
    commands, python = (re.search(rf"^```{language}\n((?:mlc|import).*?)```", README, re.M | re.S)[1]  # type: ignore[index]
                        for language in ("sh", "python"))  # fmt: skip
    path = os.environ["PATH"] if compiler == "gcc" else request.getfixturevalue("without_compilers")
    make = re.search(r"^```python\n(.*?)```", TUTORIAL, re.M | re.S)[1]  # type: ignore[index]
    (tmp_path / "make.py").write_text(make.replace("net.onnx", "model.onnx"))
    (tmp_path / "use.py").write_text(USE.format(python))
    np.save(tmp_path / "image.npy", np.ones((2, 784), np.float32))
    commands = re.sub(r"^mlc bench \S+", r"\g<0> --seconds 0.1", commands, flags=re.M)
    commands = re.sub(r"^mlc tune \S+", r"\g<0> --budget 1", commands, flags=re.M)
    shell = f"set -e\npython make.py\n{commands}\npython use.py"
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{path}", "MLC_CACHE_DIR": str(tmp_path)}
    environment.pop("CC", None)
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "out.npz")["y"].shape == (2, 10)
    for printed in ("model.so  ", "latency of", "kernels, 3 launches", "kernels are faster", "used (2, 10)"):
        assert printed in done.stdout, f"{printed}:\n{done.stdout}"


README = (ROOT / "README.md").read_text()
USE = """
import numpy as np
x, y = np.load("image.npy"), np.zeros((2, 10), np.float32)
{}
assert abs(y.sum() - 2) < 1e-4
print("used", mlc.load("model.so")(x).shape)
"""


def replay(page: str, folder: Path, **options: str) -> str:
    return session.replayed(page, session.Session(folder, **options))


def test_a_wrong_output_is_replaced(tmp_path: Path) -> None:
    page = "`a.c` is:\n\n```c\nint x;\n```\n\n```console\n$ cat a.c\nint y;\n$ echo took 1.25 s\ntook 0.50 s\n```\n"
    assert replay(page, tmp_path) == page.replace("int y;", "int x;")


def test_a_command_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="exit status 1: false"):
        replay("```console\n$ false\n```\n", tmp_path)
    assert replay("```console\n$ echo mlc: error: x; exit 2\nmlc: error: x\n```\n", tmp_path)


def test_a_section_whose_tools_are_missing_is_left(tmp_path: Path) -> None:
    page = "## one\n\n```console\n$ echo 1\n2\n```\n\n## two\n\n```console\n$ no-such-tool -x\n$ echo 1\n2\n```\n"
    assert replay(page, tmp_path) == page.replace("2\n", "1\n", 1)


def test_lines_of_a_measurement_have_no_order() -> None:
    one, two = "a  0.264  95.7%\nb  0.010  3.5%\n", "b 0.3 4%\na 1.2 9.0%\n"
    assert session.constant(one, "mlc bench x") == session.constant(two, "mlc bench x")
    assert session.constant(one, "mlc run x") != session.constant(two, "mlc run x")
