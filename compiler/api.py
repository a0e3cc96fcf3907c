"""The Python interface of the compiler: ``mlc.compile`` and ``mlc.check``."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mlc import target as targets
from mlc.driver.compile import Built, compile_source
from mlc.driver.sources import source_of
from mlc.errors import ArtifactError, InputError
from mlc.options import Numerics, Options
from mlc.tools.progress import Progress
from mlc.torch.source import is_program
from mlc.tuning import store

__all__ = ["check", "compile", "tune"]

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from mlc.comm.mesh import Mesh
    from mlc.driver.source import Source
    from mlc.driver.sources import Model as AnyModel
    from mlc.pending import PendingModel
    from mlc.runtime import Model
    from mlc.torch.model import TorchModel
    from mlc.tuning.tuner import Tuning


def compile(
    model: AnyModel,
    target: str = "cpu",
    threads: int | None = None,
    dims: Mapping[str, int] | None = None,
    numerics: Numerics = "default",
    *,
    embed_weights: bool | None = None,
    schedule: str | Path | None = None,
    cc: str | None = None,
    tuned: bool = True,
    sanitize: str = "",
    name: str | None = None,
    peak_memory: int = 0,
    cache: int = 0,
    wait: bool = True,
    mesh: Mesh | None = None,
    shardings: Any = None,
) -> Model:
    """Compile an ONNX model (opset 7 or later) or a PyTorch program and load it; the second time it comes from the
    cache.

    A program of ``torch.export.export`` gives a ``mlc.torch.model.TorchModel``, which takes and returns tensors; a file
    of ``torch.export.save`` (``.pt2``) a ``Model`` as an ONNX file does.

    ``target`` names a CPU or GPU (``mlc.target.names()``), ``threads`` is that of ``load``. ``dims`` fixes symbolic
    dimensions, ``{"batch": 8}``; the others stay open.
    ``numerics``: ``strict`` keeps the order of sums, ``default`` lets them be reassociated, ``relaxed`` also rounds
    factors of products: to bf16 on CPUs that multiply these, to TF32 on GPUs. ``schedule`` is a file that replaces
    chosen schedules. ``cc`` is the command of the C compiler, else $CC, gcc, clang, cc or ziglang. ``tuned``: kernels
    that ``tune`` has found better schedules for use them. ``sanitize`` names sanitizers of the C compiler to look for
    errors with (``address,undefined``); slow. ``name`` is what the symbols of the C interface begin with: two
    variants of one model in a program need two; None: the file's name. ``peak_memory`` is the most bytes that
    intermediate values may take: values are computed anew until they fit; 0: no limit.
    ``cache``: the caches of a decoder in ONNX (``past…``, ``present…``) are state of the model, with room for so many
    tokens; the length of its attention_mask says how many there are, those of this run included. 0: inputs and outputs.
    ``wait=False`` compiles in the background and gives a ``mlc.pending.PendingModel``, which has all
    that a ``Model`` has and whose first calls are interpreted.
    ``mesh``: the model is for all ranks of a job, ``mlc.Mesh(data=2, model=2)``; each gives whole inputs and gets whole
    outputs, and has its blocks of weights. ``shardings`` says how tensors are divided by their names,
    ``{"up": mlc.P(None, "model")}``, or is "auto", a ``planning.Auto`` or a ``planning.Plan``; the rest follows.

    Raises InputError for a malformed or unsupported model, or too small a ``peak_memory``, ToolchainError without a C
    compiler, all of them MlcError.
    """
    options = make_options(
        target, threads, dims, numerics, embed_weights, schedule, cc, tuned, sanitize, name, peak_memory
    )
    source = _source(model, cache, mesh, shardings, options, wait)
    if not wait:
        return cast("Model", _pending(model, options, threads, cache))
    with Progress() as progress:
        built = compile_source(source, options, [progress])
    if is_program(model) and mesh is None:
        return open_program(built, model, threads)
    return open_built(built, threads)


def _source(
    model: AnyModel, cache: int, mesh: Mesh | None, shardings: Any, options: Options, wait: bool
) -> Source:
    if mesh is None:
        if shardings is not None:
            raise InputError("compile: shardings are of a mesh", hint="Give mesh=mlc.Mesh(model=2) too")
        return source_of(model, cache)
    if not wait or options.embed_weights:
        hint = "Leave them out: each rank has a weights file"
        raise InputError("wait=False and embed_weights do not go with a mesh", hint=hint)
    from mlc import divided

    return divided.of(model, mesh, shardings, cache)


def _pending(model: AnyModel, options: Options, threads: int | None, cache: int) -> PendingModel:
    """Start compiling a model in the background. Raises InputError for a model that cannot be imported, and for
    exported programs.
    """
    from mlc.driver.compile import import_source
    from mlc.pending import PendingModel
    from mlc.tracing.background import cancellation

    if is_program(model):
        raise InputError("wait=False has no effect on an exported program", hint="Leave wait out, or use torch.compile")
    source = source_of(model, cache)
    imported = import_source(source, options)
    return PendingModel(imported, lambda: open_built(compile_source(source, options, [cancellation]), threads))


def tune(
    model: AnyModel,
    seconds: float = 60.0,
    threads: int | None = None,
    dims: Mapping[str, int] | None = None,
    numerics: Numerics = "default",
    *,
    inputs: Mapping[str, Any] | None = None,
    target: str = "cpu",
    cc: str | None = None,
) -> Tuning:
    """Measure schedules for the kernels of a model and keep those that are faster: ``compile`` then uses them.

    Takes about ``seconds``; an interrupt (Ctrl-C) ends it earlier, and what was found so far is kept. ``inputs`` are
    arrays to run on, None for random ones with open dimensions of 1. What is found holds for this CPU, this number of
    ``threads`` and this version of mlc, in any model with the same kernel. For a named ``target`` nothing is kept: the
    result's ``text()`` is a file of schedules for ``compile``. Its ``kernels`` say what was tried.
    """
    from mlc.tools.random_inputs import random_inputs
    from mlc.tuning.tuner import Tuner

    options = make_options(target, threads, dims, numerics, cc=cc, tuned=False)
    source = source_of(model)
    tuner = Tuner(source, options, seconds, lambda net: inputs or random_inputs(net, 0, {}), lambda _: None)
    return tuner.run(store.destination(options, store.Store.default(), elsewhere=True))


def check(model: AnyModel, dims: Mapping[str, int] | None = None) -> list[str]:
    """List every reason why a model cannot be compiled, one line each. An empty list means that it can."""
    try:
        return source_of(model).problems(make_options(dims=dims, tuned=False).dims)
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
    tuned: bool = True,
    sanitize: str = "",
    name: str | None = None,
    peak_memory: int = 0,
) -> Options:
    """Make Options from what a user writes: names and paths are resolved. Raises InputError if one of them is
    unknown.
    """
    options = Options(
        target=targets.get(target),
        threads=threads or 0,
        dims=_sizes(dims),
        numerics=numerics,
        embed_weights=embed_weights,
        schedule=None if schedule is None else _read(Path(schedule)),
        cc=cc,
        sanitize=sanitize,
        name=name,
        peak_memory=peak_memory,
    )
    return replace(options, tuned=store.known(options)) if tuned else options


def _sizes(dims: Mapping[str, int] | None) -> dict[str, int]:
    """Fixed dimensions, with NumPy's integers as Python's. Raises InputError for anything but a mapping."""
    if not isinstance(dims, Mapping | None):
        raise InputError(f"dims is {dims!r}, which is no dictionary", hint='Write it as dims={"batch": 8}')
    return {name: int(size) if isinstance(size, Integral) else size for name, size in (dims or {}).items()}


def open_built(built: Built, threads: int | None = None) -> Model:
    """Load a built artifact; a temporary folder stays until the model goes, since ``Model.save`` copies from it."""
    from mlc.runtime import load  # and NumPy: not needed for an artifact alone

    with _named(built):
        return _owning(load(built.artifact.library, threads), built)


def open_program(built: Built, program: ExportedProgram, threads: int | None = None) -> TorchModel:
    """Load the artifact of an exported program, to be called as its module."""
    from mlc.torch.model import Form, TorchModel

    with _named(built):
        return _owning(TorchModel(built.artifact.library, threads, Form(program)).with_state(program), built)


@contextmanager
def _named(built: Built) -> Iterator[None]:
    """A context in which errors of loading name the model, and not its file in the cache."""
    library = built.artifact.library
    try:
        yield
    except ArtifactError as error:
        what = f"Model '{library.stem}' is compiled, but does not run on this machine"
        message = error.message.replace(f"Cannot load {library}", what)
        raise ArtifactError(message, hint="'mlc compile' writes it for another one") from error


AModel = TypeVar("AModel", bound="Model")


def _owning(model: AModel, built: Built) -> AModel:
    if (owner := built.artifact.owner) is not None:
        weakref.finalize(model, owner.cleanup)
    return model


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the schedule file {path}: {error}", stage="options") from error
