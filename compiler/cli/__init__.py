"""The command ``mlc``: one file a subcommand. Exit status 0: done, 1: failed, 2: wrong usage or input."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, NoReturn

import typer

from mlc.cli import bench, cache, check, compile, demo, inspect, run, tune
from mlc.options import environment
from mlc.runtime.errors import MlcError

app = typer.Typer(
    help="A deep-learning compiler: ONNX models to C kernels in one shared library.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (compile, run, bench, tune, inspect, check, demo):
    app.command(module.__name__.rpartition(".")[2])(module.command)
app.add_typer(cache.app, name="cache")


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Tracebacks on errors; allowed after the command too.")
    ] = False,
) -> None:
    if version:
        from mlc import __version__

        print(f"mlc {__version__}")
        raise typer.Exit()


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit. An error is one message, or a traceback with ``--debug`` or MLC_DEBUG."""
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = environment().debug or "--debug" in arguments
    warnings.showwarning = _show_warning
    try:
        app([argument for argument in arguments if argument != "--debug"], prog_name="mlc")
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        sys.exit(_report(error))
    sys.exit(0)


def _report(error: BaseException) -> int:
    """Print an error for a user; the exit status."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    if isinstance(error, MlcError):
        print(f"mlc: error: {error}", file=sys.stderr)
        return error.exit_code
    kind = "out of memory" if isinstance(error, MemoryError) else f"internal error: {type(error).__name__}: {error}"
    print(f"mlc: {kind}. Run with --debug for the traceback.", file=sys.stderr)
    return 1


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"mlc: warning: {message}", file=sys.stderr)
