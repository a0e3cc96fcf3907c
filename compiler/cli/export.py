"""mlc export: any model, or a function on arrays, as an ONNX model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlc.cli.common import Dims, SourcePath, Types, parse_dims
from mlc.cli.functions import source_named


def command(
    model: SourcePath,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The ONNX model [default: MODEL.export.onnx].", show_default=False),
    ] = None,
    types: Types = [],  # noqa: B006 - typer reads the default, nothing changes it
    dim: Dims = [],  # noqa: B006
) -> None:
    """Write a model, or a function on arrays, as an ONNX model of opset 20.

    \b
    mlc export heat.py:step -i u=f32[points] -i d=f32[] -o heat.onnx
    mlc export program.pt2 -o program.onnx
    mlc export bert.onnx --dim batch=1 -o bert-1.onnx     # with operators of ONNX alone
    """
    from mlc.export.graphs import model_of
    from mlc.nn.files import written_whole

    source, dims = source_named(model, types, parse_dims(dim))
    made = model_of(source.imported(dims))
    path = output or Path(f"{source.name}.export.onnx")
    written_whole(path, lambda file: file.write_bytes(made.SerializeToString()))
    print(f"{path}  {path.stat().st_size:,} bytes, {len(made.graph.node)} nodes")
