"""``import onnxruntime`` gives this module, in programs that are not changed."""

from __future__ import annotations

import sys
from importlib import import_module

NAME = "onnxruntime"
_ALIASES = {
    NAME: "mlc.onnxruntime",
    f"{NAME}.capi": "mlc.onnxruntime.capi",
    f"{NAME}.capi.onnxruntime_pybind11_state": "mlc.onnxruntime.capi.onnxruntime_pybind11_state",
    f"{NAME}.capi._pybind_state": "mlc.onnxruntime.capi.onnxruntime_pybind11_state",
    f"{NAME}.capi.onnxruntime_inference_collection": "mlc.onnxruntime",
}


def install() -> None:
    """From now on ``import onnxruntime`` gives ``mlc.onnxruntime`` in this process, with or without onnxruntime there.

    Raises:
        RuntimeError: onnxruntime was imported before; modules that hold it would go on with it.
    """
    loaded = sys.modules.get(NAME)
    if loaded is not None and loaded is not sys.modules.get("mlc.onnxruntime"):
        raise RuntimeError("onnxruntime is imported already. Call mlc.onnxruntime.install() before what imports it")
    sys.modules.update({alias: import_module(name) for alias, name in _ALIASES.items()})
