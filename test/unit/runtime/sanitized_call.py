"""A plugin of pytest: calls go through the extension that ``$SANITIZED_CALL`` names, built with sanitizers."""

import importlib.util
import os
import sys

spec = importlib.util.spec_from_file_location("mlc.runtime._call", os.environ["SANITIZED_CALL"])
assert spec is not None and spec.loader is not None
sys.modules["mlc.runtime._call"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
