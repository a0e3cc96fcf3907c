"""mlc export: any model, or a function on arrays, as an ONNX model or the text of a StableHLO module."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlc.cli.common import Dims, SourcePath, Types, parse_dims
from mlc.cli.functions import source_named

if TYPE_CHECKING:
    from mlc.frontends.imported import Imported


class Form(StrEnum):
    """What a model is written as."""

    onnx = "onnx"
    stablehlo = "stablehlo"


SUFFIX = {Form.onnx: "onnx", Form.stablehlo: "mlir"}


def command(
    model: SourcePath,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The file [default: MODEL.export.onnx, or .mlir].", show_default=False),
    ] = None,
    to: Annotated[Form, typer.Option("--to", help="ONNX, or the text of a StableHLO module.")] = Form.onnx,
    types: Types = [],  # noqa: B006 - typer reads the default, nothing changes it
    dim: Dims = [],  # noqa: B006
) -> None:
    """Write a model, or a function on arrays, as an ONNX model of opset 20 or the text of a StableHLO module.

    \b
    mlc export heat.py:step -i u=f32[points] -i d=f32[] -o heat.onnx
    mlc export program.pt2 -o program.onnx
    mlc export bert.onnx --dim batch=1 -o bert-1.onnx     # with operators of ONNX alone
    mlc export net.onnx --dim batch=1 --to stablehlo      # net.export.mlir
    """
    from mlc.nn.files import written_whole

    source, dims = source_named(model, types, parse_dims(dim))
    made, count = _bytes(source.imported(dims), to)
    path = output or Path(f"{source.name}.export.{SUFFIX[to]}")
    written_whole(path, lambda file: file.write_bytes(made))
    print(f"{path}  {path.stat().st_size:,} bytes, {count}")


def _bytes(imported: Imported, to: Form) -> tuple[bytes, str]:
    """The contents of the file, and how long it is."""
    if to is Form.onnx:
        from mlc.export.graphs import model_of

        made = model_of(imported)
        return made.SerializeToString(), f"{len(made.graph.node)} nodes"
    from mlc.export.stablehlo.modules import text_of

    text = text_of(imported)
    return text.encode(), f"{text.count(chr(10))} lines"
