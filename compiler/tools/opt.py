"""mlc-opt: any pass on textual IR. It is xDSL's ``xdsl-opt`` with the dialects and passes of mlc.

mlc-opt model.mlir -p fold-constants,fuse-maps
mlc compile model.onnx --emit kernel | mlc-opt --for-target x86-64-v3 -p choose-schedule

``--target`` is xDSL's, and says what is printed; ``--for-target`` says which machine the passes compile for.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from mlc import target
from mlc.errors import MlcError
from mlc.options import environment
from mlc.passes.context import with_target


class MlcOpt(xDSLOptMain):
    """``xdsl-opt`` finds mlc's dialects and passes itself, through the ``xdsl.universe`` entry point."""

    version_format: ClassVar[str] = "mlc-opt built from xdsl version {xdsl_version}"

    def __init__(self, description: str, arguments: Sequence[str] | None = None) -> None:
        super().__init__(description, arguments)
        try:
            self.ctx = with_target(self.ctx, target.get(self.args.for_target))
        except MlcError as error:
            raise DiagnosticException(str(error)) from error

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        names = f"{', '.join(target.names())}; other facts after a colon, as in x86-64-v3:l2=1M,fma_ports=1"
        arg_parser.add_argument("--for-target", default=target.DEFAULT.name, help=f"what to compile for: {names}")

    def apply_passes(self, prog: ModuleOp) -> None:
        try:
            super().apply_passes(prog)
        except MlcError as error:
            raise DiagnosticException(str(error)) from error  # so that --verify-diagnostics prints it


def main(arguments: list[str] | None = None) -> None:
    """Run the tool on ``arguments``, or on those of the process; an error goes to stderr, exit code 1.

    With MLC_DEBUG an error that is none of the text, the arguments or the files is a traceback.
    """
    try:
        MlcOpt("mlc modular optimizer driver", arguments).run()
    except (DiagnosticException, ParseError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except (Exception, ArgSpecParseError) as error:  # xDSL's error of options is no Exception
        if environment().debug:
            raise
        known = isinstance(error, OSError | ValueError | ArgSpecParseError)
        kind = "" if known else f"internal error: {type(error).__name__}: "
        print(f"mlc-opt: error: {kind}{error}", file=sys.stderr)
        sys.exit(1)
