"""The parent's side of `benchmarks.worker`: a process that holds one engine with one model."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks import checkout, limits

LONGEST = 200  # characters of a reason
LAST_SECONDS = 10


class Unavailable(Exception):
    """An engine cannot run a model; says why."""


class Worker:
    """A `benchmarks.worker` process; it idles between bursts and imports mlc from `root`, where there is one."""

    def __init__(self, job: dict[str, Any], patience: float, root: Path | None = None) -> None:
        self._patience = patience
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the worker
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", json.dumps(job)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env={**checkout.environment(root), **limits.environment(job["target"])}, cwd=root,
        )  # fmt: skip
        try:
            ready = self._answer()
        except Unavailable:
            self.close()
            raise
        self.resident: int = ready["resident"]
        self.loading: float = ready["loading"]

    def burst(self, seconds: float) -> float:
        """The median seconds of a call over a burst."""
        assert self._process.stdin
        print(seconds, file=self._process.stdin, flush=True)
        return self._answer()["seconds"]

    def _answer(self) -> dict[str, Any]:
        stream = self._process.stdout
        assert stream
        if not select.select([stream], [], [], self._patience)[0]:
            self._process.kill()
            raise Unavailable(f"no answer in {self._patience:g} s")
        answer = json.loads(stream.readline() or self._death())
        if "error" in answer:
            raise Unavailable(_short(answer["error"]))
        return answer

    def _death(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        last = "".join(self._errors.read().strip().splitlines()[-1:])
        return json.dumps({"error": f"ended with code {code}: {last}"})

    def close(self) -> None:
        """End the process, by force where an engine's threads hold it."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
