"""mlc check: everything in a model that cannot be compiled, at once."""

from __future__ import annotations

import typer

from mlc.cli.common import Dims, OnnxPath, parse_dims


def command(
    model: OnnxPath,
    dim: Dims = [],  # noqa: B006 - typer reads the default, nothing changes it
) -> None:
    """List every reason why a model cannot be compiled; exit status 2 if there is one.

    \b
    mlc check model.onnx
    """
    from mlc.api import check

    problems = check(model, parse_dims(dim))
    print("\n".join(problems) if problems else f"{model}: every operator is supported")
    if problems:
        raise typer.Exit(2)
