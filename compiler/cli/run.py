"""mlc run: a model or an artifact on arrays from files, or on random ones; a Python program on several ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
from mlc.cli.ranks import launch
from mlc.errors import InputError
from mlc.tools.tables import console


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
        int, typer.Option(min=1, help="Start a Python program on so many ranks, under mpiexec.", show_default=False)
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
    mlc run train.py --ranks 4 --restarts 3 -- --steps 1000
    """
    import numpy as np

    if model.suffix == ".py":
        launch(model, arguments or [], ranks, restarts)
        return
    if arguments or ranks > 1 or restarts:
        what = f"Arguments, --ranks and --restarts are for Python programs, and {model} is a model"
        raise InputError(what, hint="Give a file that ends in .py, or leave them out")
    dims = parse_dims(dim)
    refuse_for_artifact(context, model, "target")
    net = open_model(model, threads, target=target)
    if output is not None:
        check_form(output, len(net.outputs))
    results = net.run(gather_inputs(net, input, random, dims))
    if output is not None:
        write_arrays(output, results)
    for name, array in results.items():
        head = np.array2string(array.ravel()[:6], max_line_width=1000, precision=6, separator=", ").rstrip("]")
        more = ", ...]" if array.size > 6 else "]"
        console().print(f"{name}: {array.dtype}{list(array.shape)} {head}{more}", markup=False, soft_wrap=True)
