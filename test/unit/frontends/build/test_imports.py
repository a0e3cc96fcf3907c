"""``frontends.build`` serves every frontend: it imports none, and no format that one reads."""

from __future__ import annotations

import subprocess
import sys

IMPORTS = """
import pkgutil, importlib, sys
import mlc.frontends.build as build
for module in pkgutil.walk_packages(build.__path__, "mlc.frontends.build."):
    importlib.import_module(module.name)
print(*sorted(sys.modules))
"""


def test_no_frontend_and_no_format_is_imported() -> None:
    loaded = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True).stdout.split()
    assert "mlc.frontends.build.builder" in loaded
    own = [m for m in loaded if m.startswith("mlc.frontends") and not (m + ".").startswith("mlc.frontends.build.")]
    assert own == ["mlc.frontends"]
    assert not [m for m in loaded if m.split(".")[0] == "onnx"]
    assert not [m for m in loaded if m.startswith(("mlc.passes", "mlc.driver", "mlc.target"))]
