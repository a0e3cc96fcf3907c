"""lit: every .mlir file under this folder is a test; its RUN lines run mlc-opt and filecheck of this environment."""

import os
import sys
from pathlib import Path

import lit.formats

config.name = "mlc"  # noqa: F821 - lit defines `config`
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821
config.test_exec_root = lit_config.params.get("exec_root", config.test_source_root)  # noqa: F821
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # noqa: F821
