"""`python -m benchmarks.models NAME -o FILE`: write a generated model."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Annotated, Any

import onnx
import typer

from benchmarks import models


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _parse(settings: list[str]) -> dict[str, Any]:
    pairs = (setting.partition("=") for setting in settings)
    return {name: _value(value) for name, _, value in pairs}


def main(
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(models.FAMILIES)}; or op_….")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    batch: Annotated[str | None, typer.Option(help="Batch size, or the name of a symbolic dimension.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=VALUE: an option of the model.")] = None,
    external_data: Annotated[bool, typer.Option(help="Write the weights to a second file, FILE.data.")] = False,
) -> None:
    """Write a generated ONNX model with seeded random weights."""
    options = _parse([*(settings or []), *([f"batch={batch}"] if batch else [])])
    try:
        model = models.build(name, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    onnx.save(model, output, save_as_external_data=external_data, location=f"{output.name}.data")


if __name__ == "__main__":
    typer.run(main)
