"""Models are compiled before rows are measured: by all processors, into the cache, without the device.

On a machine without a GPU, ``python -m benchmarks.gpu --compile --target cuda:sm_90`` does only that; the folder of the
cache (``$MLC_CACHE_DIR``) can then be taken to the GPU.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import mlc
from benchmarks.gpu.features import FEATURES
from benchmarks.gpu.isolation import Row, compiling, isolated
from mlc.api import make_options
from mlc.driver.compile import compile_source
from mlc.driver.sources import source_of
from mlc.driver.toolchain.c_compiler import allowed_cpus

SECONDS = 60  # of a row
HIDDEN = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}  # no model runs while others are compiled
_taking: list[int] = []  # of the row whose model is taken
_advance: list[int] = []  # of the models of the row that are to be compiled


class Compiled(Exception):
    """The row's model is in the cache; nothing is measured now."""


@dataclass(frozen=True)
class Given:
    """A model that a row would compile, for ``given``."""

    model: Any
    target: str
    schedule: str = ""
    numerics: str = "default"

    def __enter__(self) -> Given:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Taken(Exception):
    """A model and inputs that a row would run."""


def given(measure: Callable[[], Row]) -> tuple[Given, dict[str, Any]]:
    """The first model that a row runs, and its inputs; nothing is compiled. RuntimeError where it has no ONNX model."""
    _taking.append(1)
    try:
        measure()
    except Taken as found:
        model, inputs = found.args
        return model, inputs
    finally:
        _taking.pop()
    raise RuntimeError("the row runs no ONNX model")


def compiled(model: Any, **options: Any) -> Any:
    """``mlc.compile``. In advance it raises Compiled once the cache has the artifact, which is not loaded."""
    if _taking:
        return Given(model, **options)
    if not _advance:
        with compiling():
            net = mlc.compile(model, **options)
        FEATURES.use(entry["schedule"] for entry in net.signature["kernels"])
        return net
    compile_source(source_of(model), make_options(**options))
    raise Compiled


@contextmanager
def compiled_by(model: Any, schedules: Mapping[str, str], target: str) -> Iterator[dict[str, Any]]:
    """The model by each of some schedules, under the same names. In advance it raises Compiled once the cache has all
    artifacts, which are not loaded."""
    if _taking:
        yield {name: Given(model, target, text) for name, text in schedules.items()}
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        files = {name: Path(folder) / str(n) for n, name in enumerate(schedules)}
        for name, file in files.items():
            file.write_text(schedules[name])
        if _advance:
            for file in files.values():
                compile_source(source_of(model), make_options(target, schedule=str(file)))
            raise Compiled
        made = {name: compiled(model, target=target, schedule=str(file)) for name, file in files.items()}
        yield {name: stack.enter_context(net) for name, net in made.items()}


@contextmanager
def in_advance() -> Iterator[None]:
    """Models are compiled and not loaded."""
    _advance.append(1)
    try:
        yield
    finally:
        _advance.pop()


def compile_share(rows: Sequence[Callable[[], Row]], share: str) -> None:
    """Compile every n-th row's model, ``share`` is ``FIRST/N``: each in a process of its own, which may fail."""
    first, step = map(int, share.split("/"))
    for row in islice(rows, first, None, step):
        isolated(partial(_compile, row), SECONDS)


def _compile(measure: Callable[[], Row]) -> Row:
    with in_advance(), suppress(Compiled):
        measure()
    return {}


def compile_all(arguments: Sequence[str], seconds: float) -> Row:
    """Compile the models of all rows, a share a processor, in at most so many seconds. Rows without a model then
    compile them themselves."""
    start, shares = time.monotonic(), allowed_cpus()
    command = [sys.executable, "-m", "benchmarks.gpu", *arguments]
    children = [
        subprocess.Popen(
            [*command, "--share", f"{n}/{shares}"], start_new_session=True, stdout=subprocess.DEVNULL, env=HIDDEN
        )
        for n in range(shares)
    ]
    late = 0
    for child in children:
        try:
            child.wait(max(start + seconds - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            late += 1
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return {"processes": shares, "seconds": round(time.monotonic() - start, 1), "not ended": late}
