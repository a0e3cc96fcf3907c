"""mlc compile: a model to a library or C sources, or to the text of any stage."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mlc.cli.common import (
    Dims,
    NoTuned,
    Numerics,
    SourcePath,
    Target,
    Threads,
    Types,
    names_text,
    parse_bytes,
    parse_dims,
)
from mlc.cli.functions import source_named
from mlc.driver.artifact.forms import STDOUT, destination, is_c, refuse_without_effect
from mlc.errors import InputError
from mlc.tools.tables import console

if TYPE_CHECKING:
    from mlc.driver.instrument import Instrument
    from mlc.driver.source import Source
    from mlc.options import Options

Stage = Literal["import", "graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan", "code"]


def command(
    model: SourcePath,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="What to write, by its suffix: .so (shared library), .a or .o (to link statically), .c (a folder of C "
            "sources that compiles by itself), - (C on standard output) [default: MODEL.so]. With --emit: the text.",
            show_default=False,
        ),
    ] = None,
    types: Types = [],  # noqa: B006 - typer reads the default, nothing changes it
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            "--prefix",
            help="The beginning of each C symbol [default: the name of the output, else MODEL].",
            show_default=False,
        ),
    ] = None,
    package: Annotated[
        bool, typer.Option("--package", help="Also write MODELConfig.cmake and MODEL.pc, for CMake and pkg-config.")
    ] = False,
    target: Target = "cpu",
    threads: Threads = 0,
    dim: Dims = [],  # noqa: B006 - typer reads the default, nothing changes it
    numerics: Numerics = "default",
    peak_memory: Annotated[
        str,
        typer.Option(
            help="The most bytes of intermediate values, as in 200M: values are computed anew to fit.",
            metavar="BYTES",
            show_default=False,
        ),
    ] = "",
    cache: Annotated[
        int,
        typer.Option(
            min=0,
            help="Keep the caches of a decoder in the artifact, with room for so many tokens; 0: inputs and outputs.",
            metavar="TOKENS",
        ),
    ] = 0,
    mesh: Annotated[
        str,
        typer.Option(
            help="Compile for the ranks of a mesh, which all take whole inputs; each has a weights file.",
            metavar="NAME=N,…",
            show_default=False,
        ),
    ] = "",
    shardings: Annotated[
        list[str],
        typer.Option(
            help="With --mesh: how a tensor is divided, as up=-,model; a file of such lines or of a plan; or auto. "
            "Repeat for more.",
            metavar="NAME=DIMS|FILE|auto",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    emit: Annotated[Stage | None, typer.Option(help="Stop after a stage and print it.")] = None,
    dump_ir: Annotated[
        Path | None, typer.Option(help="Write the IR after each pass to this folder.", metavar="DIR")
    ] = None,
    time_passes: Annotated[
        bool, typer.Option("--time-passes", help="Print the time of each pass and the number of operations after it.")
    ] = False,
    verify_each: Annotated[bool, typer.Option("--verify-each", help="Verify the IR after each pass.")] = False,
    embed_weights: Annotated[
        bool | None,
        typer.Option(help="Put the weights inside the library [default: if smaller than 1 MB].", show_default=False),
    ] = None,
    schedule: Annotated[
        Path | None, typer.Option(help="Use these schedules, as 'mlc inspect --schedules' prints them.")
    ] = None,
    no_tuned: NoTuned = False,
    cc: Annotated[
        str | None, typer.Option(help="The C compiler [default: $CC, gcc, clang, cc or ziglang].", show_default=False)
    ] = None,
    sanitize: Annotated[
        str,
        typer.Option(help="Build with sanitizers: address, undefined, thread.", metavar="NAMES", show_default=False),
    ] = "",
) -> None:
    """Compile a model, or a function on arrays, to a shared library (or another form, see -o), a C header and weights.

    \b
    mlc compile resnet.onnx                     # resnet.so, resnet.h, resnet.weights
    mlc compile resnet.onnx -o resnet.a         # to link statically; or resnet.c, a folder of C sources
    mlc compile heat.py:step -i u=f32[points] -i d=f32[]   # a function on mlc.numpy's arrays: step.so, step.h
    mlc compile bert.onnx -o build/bert.so --dim batch=1 --target x86-64-v3
    mlc compile bert.onnx --mesh model=2 --shardings up=-,model   # bert.so for two ranks: bert.0of2.weights, …
    mlc compile mlp.onnx --emit kernel          # print the IR after a stage
    mlc compile mlp.onnx --dump-ir ir --time-passes
    """
    from mlc.api import make_options
    from mlc.tools.instruments import DumpIR, Timer
    from mlc.tools.progress import Progress
    from mlc.tools.verify_each import VerifyEach

    source, dims = source_named(model, types, parse_dims(dim), cache)
    if mesh or shardings:
        source = _divided(model, mesh, shardings, cache, embed_weights)
    out = None if emit else destination(output, source.name)
    if out is not None:
        refuse_without_effect(out, {"--package": package, "--sanitize": bool(sanitize), "--cc": cc is not None})
        if mesh and is_c(out):
            hint = "Write a library, as -o model.so, model.a or model.o: a weights file for each rank comes with it"
            raise InputError("C sources have the weights of one rank, and --mesh makes those of all", hint=hint)
        emit = "code" if out == STDOUT else None
    options = make_options(
        target, threads, dims, numerics, embed_weights, schedule, cc, not no_tuned, sanitize,
        name if name or out in (None, STDOUT) else _other_name(source, out), parse_bytes(peak_memory, "--peak-memory"),
    )  # fmt: skip
    timer = Timer()
    watching: list[Instrument] = [timer] if time_passes else []
    watching += [DumpIR(dump_ir)] if dump_ir else []
    watching += [VerifyEach()] if verify_each else []
    with Progress() as progress:
        if emit or out is None:
            _emit(source, options, str(emit), output, [*watching, progress])
        else:
            _build(source, options, out, package, [*watching, progress], reuse=not watching)
    if time_passes:
        console().print(timer.report())


def _divided(model: Path, mesh: str, shardings: list[str], cache: int, embed_weights: bool | None) -> Source:
    """The source of a model for the ranks of a mesh."""
    from mlc import divided
    from mlc.cli.functions import is_function
    from mlc.divided.parse import mesh_of, shardings_of

    if not mesh:
        raise InputError("--shardings was given without --mesh", hint="Give --mesh data=2,model=2 too")
    if is_function(model):
        raise InputError("--mesh is for models", hint="Give a function its mesh by mlc.jit(f, mesh=…), and save it")
    if embed_weights:
        raise InputError("--embed-weights does not go with --mesh", hint="Leave it out: each rank has a weights file")
    return divided.of(model, mesh_of(mesh), shardings_of(shardings), cache)


def _other_name(source: Source, library: Path) -> str | None:
    """The model name that the library's file name implies. None where it is the source's own name."""
    return None if library.stem == source.name else library.stem


def _build(source: Source, options: Options, out: Path, package: bool, watching: list[Instrument], reuse: bool) -> None:
    from mlc.runtime.sealed import read_signature
    from mlc.tools.progress import note

    start = time.monotonic()
    files, cached = _written(source, options, out, package, watching, reuse)
    size = sum(path.stat().st_size for path in files)
    for path in files if out.suffix != ".c" else ():
        print(f"{path}  {path.stat().st_size:,} bytes")
    if out.suffix == ".c":
        print(f"{out}  {len(files)} files of {size:,} bytes; `make -C {out}` compiles them")
    if out.suffix == ".so" and (fixed := read_signature(out).get("fixed")):
        note(f"inputs with a value are fixed to it: {names_text(fixed)}; delete their initializers to give others")
    how = "taken from the cache" if cached else "compiled"
    note(f"{how} in {time.monotonic() - start:.2f} s, {len(files)} files of {size:,} bytes")


def _written(
    source: Source, options: Options, out: Path, package: bool, watching: list[Instrument], reuse: bool
) -> tuple[list[Path], bool]:
    """Write the files in the form that ``out`` names. Returns them, and whether they come from the cache (a shared
    library may).
    """
    from mlc.driver.cache.disk_cache import Cache
    from mlc.driver.compile import compile_source, compile_static, lower_source

    if out.suffix == ".c":
        from mlc.driver.artifact.source_folder import SourceFolder, refuse_other  # and NumPy

        refuse_other(out)
        lowered = lower_source(source, options, watching, cache=Cache.default())
        return SourceFolder(lowered, options).install(out), False
    if out.suffix in (".a", ".o"):
        return compile_static(source, options, out.suffix, watching).install(out, package), False
    built = compile_source(source, options, watching, reuse)
    return built.artifact.install(out, package), built.cached


def _emit(source: Source, options: Options, stage: str, output: Path | None, watching: list[Instrument]) -> None:
    from mlc.driver.artifact.output_files import write_bytes
    from mlc.driver.compile import lower_source

    lowered = lower_source(source, options, watching, until=stage)
    text = _code(lowered.sources) if stage == "code" else str(lowered.module) + "\n"
    if output is None or output == Path("-"):
        print(text, end="")
    else:
        write_bytes(output, text.encode())


def _code(sources: dict[str, str]) -> str:
    return "\n".join(f"// ---- {name}\n{text}" for name, text in sources.items())
