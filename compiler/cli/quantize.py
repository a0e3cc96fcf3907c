"""mlc quantize: an ONNX model with integers in place of floats, and what that costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mlc.errors import InputError


def command(
    model: Annotated[Path, typer.Argument(help="An ONNX model.", metavar="MODEL", show_default=False)],
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", help="Calibration data (.npz by the names of inputs).", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The ONNX model [default: MODEL.MODE.onnx].", show_default=False),
    ] = None,
    mode: Annotated[
        Literal["static", "dynamic", "weights8", "weights4", "none"],
        typer.Option(help="static: int8 by calibration; dynamic: int8 by ranges at run time; weights alone; none."),
    ] = "static",
    calibration: Annotated[
        Literal["minmax", "percentile", "entropy", "mse"], typer.Option(help="How ranges of activations are chosen.")
    ] = "minmax",
    percentile: Annotated[float, typer.Option(help="Share of values in the range, for percentile.")] = 99.99,
    activations: Annotated[Literal["uint8", "int8"], typer.Option(help="Bytes of activations, for static.")] = "uint8",
    per_tensor: Annotated[bool, typer.Option("--per-tensor", help="One scale a weight, not one a channel.")] = False,
    reduce_range: Annotated[
        bool, typer.Option("--reduce-range", help="Weights of 7 bits, for engines whose sums of bytes saturate.")
    ] = False,
    search: Annotated[
        bool, typer.Option("--search", help="Scales of weights of the least squared error, not of the greatest weight.")
    ] = False,
    block: Annotated[int, typer.Option(help="Weights that share a scale, for weights4 and weights8.")] = 32,
    symmetric: Annotated[bool, typer.Option("--symmetric", help="Blocks without zero points.")] = False,
    exclude: Annotated[
        list[str] | None, typer.Option(help="A node that stays in f32.", metavar="NODE", show_default=False)
    ] = None,
    keep_f32_worst: Annotated[
        int, typer.Option("--keep-f32-worst", help="Leave the N most sensitive layers in f32.", metavar="N")
    ] = 0,
    max_error: Annotated[
        float | None,
        typer.Option(
            help="Leave layers in f32 until the outputs differ by at most this share (root mean square).",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[
        str, typer.Option(help="First prune weights: 0.5, 2:4 or channels:0.25.", metavar="HOW", show_default=False)
    ] = "",
    low_rank: Annotated[
        float | None,
        typer.Option(help="First factorize weights, keeping this share of their squares.", show_default=False),
    ] = None,
    labels: Annotated[str, typer.Option(help="The array of the data that has labels.", metavar="NAME")] = "labels",
    batch: Annotated[int, typer.Option(min=0, help="Samples of a run of an open model; 0: 16.")] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Write the report here (.html or .json).", show_default=False)
    ] = None,
) -> None:
    """Quantize a model, and print the error of each layer.

    \b
    mlc quantize model.onnx --data x.npz                    # static int8: model.static.onnx
    mlc quantize model.onnx --data x.npz --calibration mse --max-error 0.02 --report report.html
    mlc quantize model.onnx --mode dynamic -o small.onnx
    mlc quantize llm.onnx --mode weights4 --block 128
    mlc quantize model.onnx --data x.npz --prune 2:4 --mode none
    """
    from mlc.quantization import quantize
    from mlc.quantization.pages import check_form, write_report
    from mlc.tools.progress import Progress

    path = output or Path(f"{model.stem}.{mode}.onnx")
    if path.exists() and model.exists() and path.samefile(model):
        raise InputError(f"'{path}' is the model itself", hint="Give another file by -o")
    if report is not None:
        check_form(report)
    with Progress("reading the model") as progress:
        made = quantize(
            model, data or None, labels=labels, batch=batch, say=progress.step, mode=mode, calibration=calibration,
            percentile=percentile, activations=activations, per_channel=not per_tensor, reduce_range=reduce_range,
            search=search, block=block, symmetric=symmetric, exclude=exclude or (), keep_f32_worst=keep_f32_worst,
            max_error=max_error, prune=prune, low_rank=low_rank,
        )  # fmt: skip
    made.save(path)
    if report is not None:
        write_report(made.report, report, f"{model.name}, {mode}")
    _show(made.report, path)


def _show(report: object, path: Path) -> None:
    from mlc.quantization.report import Report, rows, summary
    from mlc.tools.tables import console, show_rows

    assert isinstance(report, Report)
    if made := rows(report):
        show_rows("", made)
    for line in summary(report):
        console().print(line, markup=False, soft_wrap=True)
    print(f"{path}  {path.stat().st_size:,} bytes")
