"""Functions that several subcommands share: options, and opening a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mlc.cli.functions import refuse_function
from mlc.errors import InputError

if TYPE_CHECKING:
    from mlc.runtime import Model

ModelPath = Annotated[
    Path,
    typer.Argument(
        help="An ONNX model, a PyTorch program (.pt2), or an artifact (.so).", metavar="MODEL", show_default=False
    ),
]
SourcePath = Annotated[
    Path,
    typer.Argument(
        help="An ONNX model, a PyTorch program (.pt2), or a function: module:function, file.py:function.",
        metavar="MODEL",
        show_default=False,
    ),
]
Types = Annotated[
    list[str],
    typer.Option(
        "-i",
        "--input",
        help="The type of a parameter of MODULE:FUNCTION; a named dimension stays open.",
        metavar="NAME=TYPE[SHAPE]",
        show_default=False,
    ),
]
Target = Annotated[
    str,
    typer.Option(
        help="The CPU to compile for: cpu (this machine), x86-64-v4, x86-64-v3, x86-64, aarch64, a core with AVX2 "
        "(haswell, skylake, znver2, znver3, alderlake, gracemont); or the NVIDIA GPU: cuda, cuda:sm_80, cuda:sm_90."
    ),
]
Threads = Annotated[
    int, typer.Option(min=0, help="Number of threads to run on; 0: one for each allowed CPU.", show_default=False)
]
Dims = Annotated[
    list[str],
    typer.Option(
        "--dim", help="Size of a symbolic dimension, or of an axis: x:2=320.", metavar="NAME=N", show_default=False
    ),
]
Numerics = Annotated[
    Literal["strict", "default", "relaxed"], typer.Option(help="How far results may differ by rounding.")
]
NoTuned = Annotated[bool, typer.Option("--no-tuned", help="Do not use the schedules that 'mlc tune' has found.")]
Inputs = Annotated[
    list[str],
    typer.Option(
        "--input",
        "-i",
        help="The array of an input (.npy), or FILE.npz with all of them.",
        metavar="NAME=FILE",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--random",
        min=0,
        help="Use random values, from this seed, for inputs that -i does not give.",
        metavar="SEED",
        show_default=False,
    ),
]


def parse_dims(pairs: list[str], option: str = "--dim") -> dict[str, int]:
    """``["batch=8"]`` -> ``{"batch": 8}``."""
    dims = {}
    for pair in pairs:
        name, _, size = pair.rpartition("=")
        if not name or not size.isdecimal() or int(size) < 1:
            raise InputError(f"'{option} {pair}' is not NAME=N", hint=f"Write it as {option} batch=8, N at least 1")
        if name in dims:
            raise InputError(f"'{option} {name}' is given twice", hint="Give each dimension once")
        dims[name] = int(size)
    return dims


UNITS = {"": 0, "K": 10, "M": 20, "G": 30}


def names_text(names: Sequence[str], most: int = 5) -> str:
    """The first names as text, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def parse_bytes(text: str, option: str) -> int:
    """``"200M"`` -> 200 MiB in bytes; 0 for no text."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text.upper() or "0")
    if match is None:
        raise InputError(f"'{option} {text}' is no number of bytes", hint=f"Write it as {option} 200M; K, M or G")
    return int(match[1]) << UNITS[match[2]]


def refuse_for_artifact(context: typer.Context, model: Path, *options: str) -> None:
    """Raise InputError for an option that has no effect on an artifact, which is compiled already."""
    for name in options:
        source = context.get_parameter_source(name)
        if model.suffix == ".so" and source is not None and source.name == "COMMANDLINE":
            option = "--" + name.replace("_", "-")
            hint = "Give it beside the ONNX model" if name == "peer" else "Give it to 'mlc compile'"
            raise InputError(f"{option} has no effect on the artifact {model}", hint=hint)


def open_model(path: Path, threads: int = 0, dims: dict[str, int] | None = None, **options: Any) -> Model:
    """Load an artifact, or compile a model (or take it from the cache) and load that."""
    from mlc.runtime import load

    if path.suffix == ".so":
        return load(path, threads or None)
    refuse_function(path)
    from mlc.api import make_options, open_built
    from mlc.driver.compile import compile_source
    from mlc.driver.sources import source_of
    from mlc.tools.progress import Progress

    with Progress() as progress:
        built = compile_source(source_of(path), make_options(threads=threads, dims=dims, **options), [progress])
    return open_built(built, threads or None)
