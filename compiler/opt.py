"""mlc-opt: any pass on textual IR. It is xDSL's ``xdsl-opt`` with the dialects and passes of mlc.

mlc-opt model.mlir -p fold-constants,fuse-maps
mlc compile model.onnx --emit graph | mlc-opt -p 'choose-schedule{lanes=8}'
"""

from __future__ import annotations

import sys
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from mlc.runtime.errors import MlcError


class MlcOpt(xDSLOptMain):
    """``xdsl-opt`` finds mlc's dialects and passes itself, through the ``xdsl.universe`` entry point."""

    version_format: ClassVar[str] = "mlc-opt built from xdsl version {xdsl_version}"

    def apply_passes(self, prog: ModuleOp) -> None:
        try:
            super().apply_passes(prog)
        except MlcError as error:
            raise DiagnosticException(str(error)) from error  # so that --verify-diagnostics prints it


def main(arguments: list[str] | None = None) -> None:
    """Run the tool on ``arguments``, or on those of the process; errors in the text go to stderr, exit code 1."""
    try:
        MlcOpt("mlc modular optimizer driver", arguments).run()
    except (DiagnosticException, ParseError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
