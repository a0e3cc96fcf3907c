"""Values of command lines that need no validator are as typer's own, and all others are left to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.main import get_command

from mlc.cli import plain_values

CASES = [
    ["model.onnx"],
    ["model.onnx", "--threads", "3", "--dim", "a=1", "--dim", "b=2", "--form", "csr", "--share", "0.25", "--fast"],
    ["-", "--out", "a/b.so", "--share", "1e-3", "--threads", "+4"],
    ["model.onnx", "--threads", "-1"],
    ["model.onnx", "--threads", "many"],
    ["model.onnx", "--form", "other"],
    ["model.onnx", "--share", "2"],
    [],
]


def said(arguments: list[str], plain: bool) -> Any:
    """What a command gets, or the error."""
    got: list[Any] = []

    def command(
        model: Annotated[Path, typer.Argument()],
        out: Annotated[Path | None, typer.Option()] = None,
        dim: Annotated[list[str], typer.Option()] = [],  # noqa: B006 - typer reads the default, nothing changes it
        threads: Annotated[int, typer.Option(min=0)] = 0,
        share: Annotated[float, typer.Option(min=0, max=1)] = 0.5,
        form: Annotated[Literal["coo", "csr"], typer.Option()] = "coo",
        fast: Annotated[bool, typer.Option("--fast")] = False,
        embed: Annotated[bool | None, typer.Option()] = None,
    ) -> None:
        values = [model, out, dim, threads, share, form, fast, embed]
        got.extend(values)

    app = typer.Typer()
    app.command()(command)
    built = get_command(app)
    if plain:
        plain_values.use_plain_values(built)
    try:
        built(arguments, standalone_mode=False)
    except Exception as error:
        return type(error), error.format_message()  # type: ignore[attr-defined]
    return got


@pytest.mark.parametrize("arguments", CASES, ids=" ".join)
def test_as_typer(arguments: list[str]) -> None:
    assert said(arguments, plain=True) == said(arguments, plain=False)
