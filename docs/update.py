"""Writes the outputs of commands in the documentation anew: ``python docs/update.py`` (``--check``: lists stale pages).

A block of a page that begins with ``$ mlc …`` or ``$ mlc-opt …`` shows the output of that command, in a folder with
``net.onnx`` (``docs/example.py``)::

    ```console
    $ mlc compile net.onnx --emit graph --target x86-64-v3 | grep conv
    ```

The pages of ``SESSIONS`` are run as a whole instead (``docs/session.py``).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest import mock

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
from session import replayed_page  # noqa: E402

SESSIONS = (
    DOCS / "tutorial.md",
    DOCS / "tutorial-arrays.md",
    DOCS / "training.md",
    DOCS / "howto/link-statically.md",
    DOCS / "howto/quantize.md",
    DOCS / "howto/search-a-plan.md",
    DOCS / "howto/train-by-epochs.md",
    DOCS / "frontend/array.md",
    DOCS / "frontend/nn.md",
)
BLOCK = re.compile(r"(?<=^```console\n)\$ (mlc.*)\n(?:.*\n)*?(?=```$)", re.M)


def pages() -> list[Path]:
    """The pages that show outputs."""
    return sorted(page for page in DOCS.rglob("*.md") if page in SESSIONS or BLOCK.search(page.read_text()))


def updated(page: Path) -> str:
    """The text of a page with the outputs as they are now."""
    if page in SESSIONS:
        return replayed_page(page)
    with _beside_the_model():
        return BLOCK.sub(lambda block: f"$ {block[1]}\n{_output(block[1])}", page.read_text())


def _output(command: str) -> str:
    """What a command prints; what stands after the first ``|`` filters it, in the shell."""
    call, _, filters = command.partition(" | ")
    text = _call(call)
    if filters:
        text = subprocess.run(filters, shell=True, input=text, text=True, capture_output=True, check=True).stdout
    assert text.strip(), f"no output: {command}"
    return text.rstrip("\n") + "\n"


@cache
def _call(call: str) -> str:
    """The output of mlc or mlc-opt, run in this process."""
    from mlc.cli import main as mlc
    from mlc.tools.opt import main as mlc_opt

    argv = shlex.split(call)
    printed = io.StringIO()
    with mock.patch.object(sys, "argv", argv), contextlib.redirect_stdout(printed):
        try:
            {"mlc": mlc, "mlc-opt": mlc_opt}[argv[0]]()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"exit status {end.code}: {call}") from end
    return printed.getvalue()


@contextlib.contextmanager
def _beside_the_model() -> Iterator[None]:
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            subprocess.run([sys.executable, str(DOCS / "example.py")], check=True)
            yield
        finally:
            os.chdir(here)


def main(arguments: list[str]) -> int:
    stale = {page: text for page in pages() if (text := updated(page)) != page.read_text()}
    for page, text in stale.items():
        print(("stale: " if arguments == ["--check"] else "written: ") + str(page.relative_to(DOCS.parent)))
        if arguments != ["--check"]:
            page.write_text(text)
    return int(bool(stale) and arguments == ["--check"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
