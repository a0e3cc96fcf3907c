"""Pages that are sessions: their commands run from the first to the last in one folder; their outputs are compared.

A block of C or Python becomes the file whose name begins the paragraph before it. A ``console`` block has commands,
lines that begin with ``$``, each followed by its output::

    ```console
    $ mlc compile net.onnx
    net.so  44,584 bytes
    ```

What differs from run to run (``VARYING``) does not count. A section whose tools are missing is left as it is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

DOCS = Path(__file__).parent
SECTION = re.compile(r"^(?=## )", re.M)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
NAME = re.compile(r"(?:.*\n\n)?`([\w.-]+)`[^\n]*(?:\n[^\n]+)*\n\n\Z", re.S)  # a paragraph that begins with a name
VARYING = [
    (r"\d[\d,]* (bytes|runs)\b", r"N \1"),  # the C compiler's version decides sizes
    (r"\d+\.\d+ (ms|s|GFLOP/s|GB/s|of)\b", r"N \1"),
    (r"\bpeak \d+ ", "peak N "),
    (r"\(0x[0-9a-f]+\)", "(address)"),
    (r"(sha256|hit,) [0-9a-f]{12}\b", r"\1 digest"),
    (r"^target .*", "target"),  # the CPU's instruction sets
    (r" +", " "),  # columns are as wide as their numbers
]
VARYING_OF_BENCH = [(r"\b\d+(\.\d+)?%?(?=\s)", "N"), (r"the difference, .*", "the difference"),
                    (r" \((caches|peak too low)\)", "")]  # fmt: skip


def replayed(page: str, session: Session) -> str:
    """The text of a page with the outputs as they are now; those that only vary stay."""
    return "".join(session.section(part) if session.has_tools(part) else part for part in SECTION.split(page))


@dataclass
class Session:
    """A folder and an environment in which commands run; ``setup`` is shell code before each.

    ``skipped``: a pattern of commands that do not run, and show what they show.
    """

    folder: Path
    path: str = field(default_factory=lambda: os.environ["PATH"])
    setup: str = ""
    compared: bool = True
    skipped: str = r"(?!)"

    def has_tools(self, section: str) -> bool:
        """Whether the programs of a section exist: its cross compiler may not, and what is not the shell's own."""
        commands = [found[1] for block in FENCE.finditer(section) for found in COMMAND.finditer(block[2])]
        tools = {word for command in commands for word in re.findall(r"(?:^|[|&] )([\w-]+)(?= )", command)}
        return all(shutil.which(tool, path=self.full_path) or f"{tool}()" in self.setup for tool in tools)

    @property
    def full_path(self) -> str:
        return f"{Path(sys.executable).parent}:{self.path}"

    def section(self, text: str) -> str:
        done = 0
        out = []
        for block in FENCE.finditer(text):
            before = text[done : block.start()]
            out += [before, f"```{block[1]}\n{self._block(block[1], block[2], before)}```"]
            done = block.end()
        return "".join([*out, text[done:]])

    def _block(self, language: str, body: str, before: str) -> str:
        if language == "console":
            return COMMAND.sub(lambda found: f"$ {found[1]}\n{self._output(found[1], found[2])}", body)
        if named := NAME.match(before):
            (self.folder / named[1]).write_text(body)
        return body

    def _output(self, command: str, shown: str) -> str:
        """What a command prints, or what is shown of it if that differs only in what varies."""
        if re.search(self.skipped, command):
            return shown
        environment = {**os.environ, "PATH": self.full_path, "MLC_CACHE_DIR": str(self.folder / ".cache"),
                       "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "160"}  # fmt: skip
        environment.pop("CC", None)
        code = f"{self.setup}\n{command}"
        done = subprocess.run(["bash", "-c", code], cwd=self.folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        if (done.returncode != 0) != shown.startswith("mlc: error"):
            raise RuntimeError(f"exit status {done.returncode}: {command}\n{done.stdout}")
        printed = re.sub(r"[ \t]+$", "", done.stdout, flags=re.M).strip("\n")
        printed = f"{printed}\n" if printed else ""
        same = constant(printed, command) == constant(shown, command)
        return shown if same or not self.compared else printed


def constant(output: str, command: str) -> list[str]:
    """The lines of an output without what varies; those of a measurement have no order."""
    benched = " bench " in command
    for pattern, text in VARYING + VARYING_OF_BENCH * benched:
        output = re.sub(pattern, text, output, flags=re.M)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return sorted(lines) if benched else lines


def replayed_page(page: Path, **options: str) -> str:
    """A page's text after its session in a temporary folder, in which ``docs`` is this one."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "docs").symlink_to(DOCS)
        return replayed(page.read_text(), Session(Path(folder), compared=has_avx512(), **options))


def has_avx512() -> bool:
    """The pages show what a CPU with AVX-512 gets; on others the commands run, and schedules differ."""
    from mlc import target

    return "avx512f" in target.get("cpu").features
