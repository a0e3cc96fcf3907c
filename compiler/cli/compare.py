"""mlc compare: a compiled model beside a reference, and where they differ, the step that is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlc.cli.arrays import gather_inputs, read_archive
from mlc.cli.common import Dims, Inputs, NoTuned, Numerics, Seed, Target, Threads, parse_dims
from mlc.cli.functions import refuse_function
from mlc.errors import InputError
from mlc.tools.progress import Progress
from mlc.tools.tables import console

if TYPE_CHECKING:
    from mlc.debugging.report import Comparison, Row

Model = Annotated[
    Path, typer.Argument(help="An ONNX model, or a PyTorch program (.pt2).", metavar="MODEL", show_default=False)
]
Expected = Annotated[
    Path | None,
    typer.Option(help="The right outputs (.npz by name; .npy of one), in place of onnxruntime's.", show_default=False),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="What floats may differ by, as a share of the largest value [default: 1e-4 for f32].",
        show_default=False,
    ),
]


def command(
    model: Model,
    input: Inputs = [],  # noqa: B006 - typer reads the default, nothing changes it
    random: Seed = 0,
    expected: Expected = None,
    steps: Annotated[bool, typer.Option("--steps", help="Compare the steps even where the outputs are right.")] = False,
    tolerance: Tolerance = None,
    dim: Dims = [],  # noqa: B006
    threads: Threads = 0,
    target: Target = "cpu",
    numerics: Numerics = "default",
    schedule: Annotated[Path | None, typer.Option(help="Use these schedules.", show_default=False)] = None,
    no_tuned: NoTuned = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Compare the outputs of a compiled model with onnxruntime's; where they differ, find the node, the pass or the
    kernel that is wrong. Exit status 1 if an output is wrong.

    \b
    mlc compare model.onnx
    mlc compare model.onnx -i x=image.npy --expected right.npz
    mlc compare model.onnx --dim batch=4 --numerics relaxed --steps
    mlc compare program.pt2 -i inputs.npz --tolerance 1e-6
    """
    if model.suffix == ".so":
        hint = "Give the model that it was compiled from"
        raise InputError(f"{model} is compiled: its nodes and passes cannot be seen any more", hint=hint)
    refuse_function(model)
    from mlc.api import make_options
    from mlc.debugging.compare import Search
    from mlc.driver.sources import source_of

    options = make_options(target, threads, None, numerics, schedule=schedule, tuned=not no_tuned)
    sizes = parse_dims(dim)
    with Progress() as progress:
        search = Search(
            source_of(model), options, lambda net: gather_inputs(net, input, random, sizes),
            None if expected is None else read_archive(expected), tolerance, progress.step,
        )  # fmt: skip
        found = search.run(steps)
    if as_json:
        print(json.dumps(record(found), indent=1))
    else:
        console().print(str(found), markup=False, soft_wrap=True)
    if not found.right:
        raise typer.Exit(1)


def record(found: Comparison) -> Mapping[str, Any]:
    """A comparison as JSON holds it."""
    groups = {name: list(map(_row, getattr(found, name))) for name in ("outputs", "nodes", "passes", "kernels")}
    rest = {"reference": found.reference, "right": found.right, "sensitivity": found.sensitivity}
    return {**rest, **groups, "notes": found.notes, "conclusion": found.conclusion}


def _row(row: Row) -> Mapping[str, Any]:
    made: dict[str, Any] = {"name": row.name, "about": row.about}
    if (found := row.difference) is None:
        return made | {"not compared": row.why}
    error = found.error if found.error < float("inf") else None
    where = {"at": list(found.at), "found": found.found, "expected": found.wanted} if found.at is not None else {}
    return made | {"error": error, "tolerance": found.tolerance, "right": found.right} | where
