"""mlc run: a model or an artifact on arrays from files, or on random ones; a Python program on several ranks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlc.cli.arrays import check_form, gather_inputs, write_arrays
from mlc.cli.common import (
    Dims,
    Inputs,
    ModelPath,
    Seed,
    Target,
    Threads,
    open_model,
    parse_dims,
    refuse_for_artifact,
)
from mlc.cli.ranks import ending_the_job, launch
from mlc.errors import InputError
from mlc.tools.tables import console

if TYPE_CHECKING:
    from mlc.runtime import Model


def command(
    context: typer.Context,
    model: ModelPath,
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Of a Python program, after --.", metavar="[-- ARGUMENTS]")
    ] = None,
    input: Inputs = [],  # noqa: B006 - typer reads the default, nothing changes it
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the outputs here (.npz; one as .npy).", show_default=False),
    ] = None,
    random: Seed = None,
    threads: Threads = 0,
    dim: Dims = [],  # noqa: B006
    target: Target = "cpu",
    ranks: Annotated[
        int,
        typer.Option(min=1, help="Start a program, or a model for a mesh, on so many, by mpiexec.", show_default=False),
    ] = 1,
    restarts: Annotated[
        int, typer.Option(min=0, help="Start it again so often, where the job fails.", show_default=False)
    ] = 0,
) -> None:
    """Run a model once; prints the outputs' shapes and first values, or writes them to a file.

    \b
    mlc run model.so -i x=image.npy -o out.npz
    mlc run model.so -i inputs.npz -o y.npy
    mlc run model.onnx --random 0 --dim batch=4 --target cuda
    mlc run model.so --ranks 2 -i x=tokens.npy    # of mlc compile --mesh model=2
    mlc run train.py --ranks 4 --restarts 3 -- --steps 1000
    """
    if model.suffix == ".py":
        launch(model, arguments or [], ranks, restarts)
        return
    dims = parse_dims(dim)
    refuse_for_artifact(context, model, "target")
    if arguments:
        what = f"Arguments are for Python programs, and {model} is a model"
        raise InputError(what, hint="Give a file that ends in .py, or leave them out")
    if ranks > 1 or restarts:
        if model.suffix != ".so":
            hint = f"Compile it for a mesh first: mlc compile {model} --mesh model={ranks}"
            raise InputError(f"--ranks and --restarts are for Python programs and artifacts, not {model}", hint=hint)
        launch(model, _again(input, output, random, threads, dim), ranks, restarts)
        return
    if model.suffix != ".so":
        _show(_results(open_model(model, threads, target=target), input, output, random, dims))
        return
    with ending_the_job(model) as prints:
        results = _results(open_model(model, threads), input, output if prints else None, random, dims)
        if prints:
            _show(results)


def _again(input: list[str], output: Path | None, random: int | None, threads: int, dim: list[str]) -> list[str]:
    """The options with which each rank runs the model."""
    found = [each for text in input for each in ("-i", text)] + [each for text in dim for each in ("--dim", text)]
    found += ["-o", str(output)] if output is not None else []
    found += ["--random", str(random)] if random is not None else []
    return [*found, *(["--threads", str(threads)] if threads else [])]


def _results(
    net: Model, input: list[str], output: Path | None, random: int | None, dims: dict[str, int]
) -> dict[str, Any]:
    if output is not None:
        check_form(output, len(net.outputs))
    results = net.run(gather_inputs(net, input, random, dims))
    if output is not None:
        write_arrays(output, results)
    return results


def _show(results: dict[str, Any]) -> None:
    import numpy as np

    for name, array in results.items():
        head = np.array2string(array.ravel()[:6], max_line_width=1000, precision=6, separator=", ").rstrip("]")
        more = ", ...]" if array.size > 6 else "]"
        console().print(f"{name}: {array.dtype}{list(array.shape)} {head}{more}", markup=False, soft_wrap=True)
