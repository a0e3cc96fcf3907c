"""What several subcommands share: options, opening a model, reading and writing arrays."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlc.runtime.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from mlc.runtime import Model

ModelPath = Annotated[
    Path, typer.Argument(help="An ONNX model, or an artifact (.so).", metavar="MODEL", show_default=False)
]
OnnxPath = Annotated[Path, typer.Argument(help="An ONNX model.", metavar="MODEL.onnx", show_default=False)]
Target = Annotated[str, typer.Option(help="CPU: cpu (this machine), x86-64-v4, x86-64-v3, x86-64, aarch64.")]
Threads = Annotated[int, typer.Option(min=0, help="Threads to run on; 0: all allowed CPUs.", show_default=False)]
Dims = Annotated[
    list[str], typer.Option("--dim", help="Value of a symbolic dimension.", metavar="NAME=N", show_default=False)
]
Numerics = Annotated[str, typer.Option(help="strict, default or relaxed.")]
NoTuned = Annotated[bool, typer.Option("--no-tuned", help="Do without the schedules that 'mlc tune' has found.")]
Inputs = Annotated[
    list[str], typer.Option("--input", "-i", help="An input array.", metavar="NAME=FILE.npy", show_default=False)
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--random", help="Random values, from this seed, for inputs not given.", metavar="SEED", show_default=False
    ),
]


def parse_dims(pairs: list[str], option: str = "--dim") -> dict[str, int]:
    """``["batch=8"]`` -> ``{"batch": 8}``."""
    dims = {}
    for pair in pairs:
        name, _, size = pair.partition("=")
        if not name or not size.isdecimal() or int(size) < 1:
            raise InputError(f"'{option} {pair}' is not NAME=N", hint=f"Write it as {option} batch=8, N at least 1")
        dims[name] = int(size)
    return dims


def schedule_of(kernel: dict[str, Any]) -> str:
    """The schedule of a kernel of the signature, with a comment where it is not the chosen one."""
    return kernel["schedule"] + ("  # tuned" if kernel.get("tuned") else "")


def open_model(path: Path, threads: int = 0, dims: dict[str, int] | None = None, **options: Any) -> Model:
    """Load an artifact, or compile a model (or take it from the cache) and load that."""
    from mlc.runtime import load

    if path.suffix == ".so":
        return load(path, threads or None)
    from mlc.api import make_options, open_built
    from mlc.build import build
    from mlc.identity import Source
    from mlc.progress import Progress

    with Progress() as progress:
        built = build(Source.of(path), make_options(threads=threads, dims=dims, **options), [progress])
    return open_built(built, threads or None)


def gather_inputs(
    model: Model, pairs: list[str], seed: int | None, dims: dict[str, int]
) -> dict[str, np.ndarray[Any, Any]]:
    """Arrays from ``NAME=file.npy`` options and, with a seed, random ones for the rest."""
    arrays = {}
    for pair in pairs:
        name, _, file = pair.rpartition("=")
        name = name or next(iter(model.inputs))
        if name not in model.inputs or (len(model.inputs) > 1 and "=" not in pair):
            raise InputError(
                f"'-i {pair}' names no input", hint=f"Inputs: {', '.join(model.inputs)}; write -i NAME=FILE.npy"
            )
        arrays[name] = read_array(Path(file))
    if seed is not None:
        from mlc.inputs import random_inputs

        arrays |= {k: v for k, v in random_inputs(model, seed, dims).items() if k not in arrays}
    missing = [name for name in model.inputs if name not in arrays]
    if missing:
        raise InputError(f"No value for input {', '.join(missing)}", hint="Give -i NAME=FILE.npy, or --random SEED")
    return arrays


def read_array(path: Path) -> np.ndarray[Any, Any]:
    """An array from a .npy file; object arrays (pickles) are refused."""
    import numpy as np

    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"Cannot read the array {path}: {error}", hint="Give a .npy file without objects") from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} holds several arrays", hint="Give a .npy file, one an input")
    return array


def write_arrays(path: Path, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    """Write an .npz file, whole or not at all. (``np.savez`` has no room for an array named ``file``.)"""
    from numpy.lib import format

    from mlc.files import write_bytes

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            plain = array.astype(str) if array.dtype == object else array  # texts; objects would be a pickle
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                format.write_array(member, plain, allow_pickle=False)
    write_bytes(path, buffer.getvalue())
