"""The command ``mlc``: one file a subcommand. Exit status 0: done, 1: failed, 2: wrong usage or input."""

from __future__ import annotations

import errno
import re
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_command

from mlc.cli.plain_values import use_plain_values
from mlc.driver.limits import of_machine
from mlc.errors import MlcError, OutputError
from mlc.interrupts import handled
from mlc.options import environment
from mlc.tools.plain_output import plain_output
from mlc.tools.progress import Verbosity, note, set_verbosity

COMMANDS = (
    *("compile", "export", "quantize", "generate", "run", "bench", "compare", "tune", "inspect", "check", "plan"),
    *("plugins", "demo", "cache"),
)
"""The subcommands, in the order of the help."""
VERBOSITY = {"-q": Verbosity.QUIET, "--quiet": Verbosity.QUIET, "-v": Verbosity.VERBOSE, "--verbose": Verbosity.VERBOSE}
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
UsageError = typer.BadParameter.__bases__[0]  # typer exports no other name for it


def app_of(commands: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line with these subcommands, whose modules are imported: all take longer than what most need."""
    app = typer.Typer(
        help="A deep-learning compiler: ONNX models, PyTorch programs and functions on arrays to C or CUDA kernels in "
        "one shared library.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(options)
    for name in commands:
        module = import_module(f"mlc.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(module.command)
    return app


def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks of errors; allowed after the command too.")
    ] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Print every step with its time on stderr.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing on stderr but errors.")] = False,
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
    set_verbosity(Verbosity.NORMAL)
    for option, level in VERBOSITY.items():
        if option in arguments:
            set_verbosity(level)
    given = [argument for argument in arguments if argument not in ("--debug", *VERBOSITY)]
    with plain_output(), handled():
        try:
            command = get_command(app_of(given[:1] if given[:1] and given[0] in COMMANDS else COMMANDS))
            use_plain_values(command)
            status = command(given, prog_name="mlc", standalone_mode=False)
        except (Exception, KeyboardInterrupt) as error:
            if debug and not isinstance(error, UsageError):
                raise
            status = _report(error)
    sys.exit(status or 0)


def _report(error: BaseException) -> int:
    """Print an error for a user and return the exit status."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    if isinstance(error, UsageError):
        if type(error).__name__ == "NoArgsIsHelpError":  # no arguments at all: its message is the help
            print(error.format_message())  # type: ignore[attr-defined]
            return 0
        print(f"mlc: error: {usage_message(error)}", file=sys.stderr)
        return 2
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        error = OutputError(f"What mlc prints or writes has no room: {error.strerror}", hint="Free some space")
    if isinstance(error, ImportError | RuntimeError):
        error = of_machine(error) or error
    if isinstance(error, MlcError):
        print(f"mlc: error: {error}", file=sys.stderr)
        return error.exit_code
    short = "out of memory. Allow more memory (ulimit -v)"
    kind = short if isinstance(error, MemoryError) else f"internal error: {type(error).__name__}: {error}"
    print(f"mlc: {kind}. Run with --debug for the traceback.", file=sys.stderr)
    return 1


def usage_message(error: Any) -> str:
    """The message about wrong arguments: what is wrong, the nearest valid word, and where the help is."""
    text = error.format_message().replace("Value error, ", "").rstrip(".")
    text = re.sub(r" \(Possible options?: (.*)\)$", r". Did you mean \1?", text)
    if unknown := re.fullmatch(r"No such command '(.*)'", text):
        commands = list(getattr(error.ctx.command, "commands", ()))
        near = get_close_matches(unknown[1], commands, 1)
        text += f". Did you mean '{near[0]}'?" if near else f". Commands: {', '.join(commands)}"
    command = error.ctx.command_path if error.ctx is not None else "mlc"
    return f"{text}{'' if text.endswith('?') else '.'} See '{command} --help'."


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    note(f"mlc: warning: {message}")
