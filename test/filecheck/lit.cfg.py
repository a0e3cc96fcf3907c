"""lit: every .mlir file under this folder is a test; its RUN lines run mlc-opt and filecheck of this environment, in
forks of this process (``forked_tools.py``)."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import forked_tools  # noqa: E402 - from this folder

forked_tools.preload()
config.name = "mlc"  # noqa: F821 - lit defines `config`
config.test_format = forked_tools.ForkedTools(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821
config.test_exec_root = lit_config.params.get("exec_root", config.test_source_root)  # noqa: F821
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # noqa: F821
