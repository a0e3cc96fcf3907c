"""mlc compile: a model to a shared library and a C header, or to the text of any stage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlc.cli.common import Dims, NoTuned, Numerics, OnnxPath, Target, Threads, parse_dims
from mlc.tables import console

if TYPE_CHECKING:
    from mlc.identity import Source
    from mlc.instruments import Instrument
    from mlc.options import Options

STAGES = "import, graph, fuse, kernel, schedule, tile, loops, plan or code"


def command(
    model: OnnxPath,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The library [default: MODEL.so here]; with --emit, the text (- or none: standard output).",
            show_default=False,
        ),
    ] = None,
    target: Target = "cpu",
    threads: Threads = 0,
    dim: Dims = [],  # noqa: B006 - typer reads the default, nothing changes it
    numerics: Numerics = "default",
    emit: Annotated[
        str | None, typer.Option(help=f"Stop after a stage and print it: {STAGES}.", metavar="STAGE")
    ] = None,
    dump_ir: Annotated[Path | None, typer.Option(help="Write the IR after each pass here.", metavar="DIR")] = None,
    time_passes: Annotated[bool, typer.Option("--time-passes", help="Print time and op count by pass.")] = False,
    verify_each: Annotated[bool, typer.Option("--verify-each", help="Verify the IR after each pass.")] = False,
    embed_weights: Annotated[
        bool | None, typer.Option(help="Weights inside the library [default: below 1 MB].", show_default=False)
    ] = None,
    schedule: Annotated[
        Path | None, typer.Option(help="Schedules in place of chosen ones, as 'mlc inspect --schedules' prints them.")
    ] = None,
    no_tuned: NoTuned = False,
    cc: Annotated[
        str | None, typer.Option(help="The C compiler [default: $CC, gcc, clang, cc or ziglang].", show_default=False)
    ] = None,
    sanitize: Annotated[
        str,
        typer.Option(help="Sanitizers to build in: address, undefined, thread.", metavar="NAMES", show_default=False),
    ] = "",
) -> None:
    """Compile a model to a shared library, a C header and a weights file.

    \b
    mlc compile resnet.onnx                     # resnet.so, resnet.h, resnet.weights
    mlc compile bert.onnx -o build/bert.so --dim batch=1 --target x86-64-v3
    mlc compile mlp.onnx --emit kernel          # print the IR after a stage
    mlc compile mlp.onnx --dump-ir ir --time-passes
    """
    from mlc.api import make_options
    from mlc.identity import Source
    from mlc.instruments import DumpIR, Timer, VerifyEach
    from mlc.progress import Progress

    options = make_options(
        target, threads, parse_dims(dim), numerics, embed_weights, schedule, cc, not no_tuned, sanitize  # type: ignore[arg-type]
    )
    source = Source.of(model)
    timer = Timer()
    watching: list[Instrument] = [timer] if time_passes else []
    watching += [DumpIR(dump_ir)] if dump_ir else []
    watching += [VerifyEach()] if verify_each else []
    with Progress() as progress:
        if emit:
            _emit(source, options, emit, output, [*watching, progress])
        else:
            _build(source, options, output, [*watching, progress], reuse=not watching)
    if time_passes:
        console().print(timer.report())


def _build(source: Source, options: Options, output: Path | None, watching: list[Instrument], reuse: bool) -> None:
    from mlc.build import build

    built = build(source, options, watching, reuse)
    out = Path(f"{source.name}.so") if output is None else output
    out = out / f"{source.name}.so" if out.is_dir() else out
    for path in built.artifact.install(out):
        print(f"{path}  {path.stat().st_size:,} bytes")


def _emit(source: Source, options: Options, stage: str, output: Path | None, watching: list[Instrument]) -> None:
    from mlc.build import lower
    from mlc.files import write_bytes
    from mlc.pipeline import stages
    from mlc.runtime.errors import InputError

    if stage not in stages():
        raise InputError(f"There is no stage '{stage}'", hint=f"Stages are {', '.join(stages())}")
    lowered = lower(source, options, watching, until=stage)
    text = _code(lowered.sources) if stage == "code" else str(lowered.module) + "\n"
    if output is None or output == Path("-"):
        print(text, end="")
    else:
        write_bytes(output, text.encode())


def _code(sources: dict[str, str]) -> str:
    return "\n".join(f"// ---- {name}\n{text}" for name, text in sources.items())
