"""The Python interface of the compiler: ``mlc.compile`` and ``mlc.check``."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mlc import target as targets
from mlc.build import Built, build
from mlc.identity import Source
from mlc.options import Numerics, Options
from mlc.progress import Progress
from mlc.runtime import Model, load
from mlc.runtime.errors import InputError

if TYPE_CHECKING:
    from onnx import ModelProto


def compile(
    model: str | Path | bytes | ModelProto,
    target: str = "cpu",
    threads: int | None = None,
    dims: Mapping[str, int] | None = None,
    numerics: Numerics = "default",
    *,
    embed_weights: bool | None = None,
    schedule: str | Path | None = None,
    cc: str | None = None,
) -> Model:
    """Compile an ONNX model (opset 7 or later) and load it; the second time it comes from the cache.

    ``target`` names a CPU (``mlc.target.names()``). ``threads`` is how many the model runs on, None for all allowed
    CPUs; results do not depend on it. ``dims`` fixes symbolic dimensions, ``{"batch": 8}``; the others stay open.
    ``numerics``: ``strict`` keeps the order of sums, ``default`` lets them be reassociated, ``relaxed`` also rounds
    more. ``schedule`` is a file that replaces chosen schedules. ``cc`` is the command of the C compiler, else $CC, gcc,
    clang, cc or ziglang.

    Raises InputError for a malformed or unsupported model, ToolchainError without a C compiler, all of them MlcError.
    """
    options = make_options(target, threads, dims, numerics, embed_weights, schedule, cc)
    with Progress() as progress:
        built = build(Source.of(model), options, [progress])
    return open_built(built, threads)


def check(model: str | Path | bytes | ModelProto, dims: Mapping[str, int] | None = None) -> list[str]:
    """Every reason why a model cannot be compiled, one line each; empty if there is none."""
    from mlc.frontends.onnx import check_model

    try:
        return [str(problem) for problem in check_model(Source.of(model).model, dims)]
    except InputError as error:
        return [str(error)]


def make_options(
    target: str = "cpu",
    threads: int | None = None,
    dims: Mapping[str, int] | None = None,
    numerics: Numerics = "default",
    embed_weights: bool | None = None,
    schedule: str | Path | None = None,
    cc: str | None = None,
) -> Options:
    """Options from what a user writes: names and paths are resolved. InputError if one of them is unknown."""
    return Options(
        target=targets.get(target),
        threads=threads or 0,
        dims=dict(dims or {}),
        numerics=numerics,
        embed_weights=embed_weights,
        schedule=None if schedule is None else _read(Path(schedule)),
        cc=cc,
    )


def open_built(built: Built, threads: int | None = None) -> Model:
    """Load a built artifact; a temporary folder stays until the model goes, since ``Model.save`` copies from it."""
    model = load(built.artifact.library, threads)
    if (owner := built.artifact.owner) is not None:
        weakref.finalize(model, owner.cleanup)
    return model


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the schedule file {path}: {error}", stage="options") from error
