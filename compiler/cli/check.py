"""mlc check: everything in a model that cannot be compiled, at once."""

from __future__ import annotations

import typer

from mlc.cli.common import Dims, SourcePath, Types, parse_dims
from mlc.cli.functions import is_function, refuse_types, source_named


def command(
    model: SourcePath,
    types: Types = [],  # noqa: B006 - typer reads the default, nothing changes it
    dim: Dims = [],  # noqa: B006
) -> None:
    """List every reason why a model cannot be compiled; exit status 2 if there is one.

    \b
    mlc check model.onnx
    mlc check heat.py:step -i u=f32[points] -i d=f32[]
    """
    from mlc.api import check

    if is_function(model):
        source, _ = source_named(model, types, parse_dims(dim))
        source.imported({})  # its error has the user's line
        problems = []
    else:
        refuse_types(types)
        problems = check(model, parse_dims(dim))
    print("\n".join(problems) if problems else f"{model}: every operator is supported")
    if problems:
        raise typer.Exit(2)
