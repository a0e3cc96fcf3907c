"""mlc: a deep-learning compiler. ONNX models go in; C kernels behind a plain C ABI come out.

    net = mlc.compile("model.onnx")
    y = net(x)
    net.save("model.so");  mlc.load("model.so")

Names are loaded on first use: importing ``mlc.runtime`` alone needs NumPy and nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mlc.api import check as check
    from mlc.api import compile as compile
    from mlc.api import tune as tune
    from mlc.options import Options as Options
    from mlc.runtime import Model as Model
    from mlc.runtime import load as load
    from mlc.runtime.errors import ArtifactError as ArtifactError
    from mlc.runtime.errors import InputError as InputError
    from mlc.runtime.errors import MlcError as MlcError
    from mlc.runtime.errors import RunError as RunError

_HOMES = {
    "compile": "mlc.api",
    "check": "mlc.api",
    "tune": "mlc.api",
    "Options": "mlc.options",
    "Model": "mlc.runtime",
    "load": "mlc.runtime",
    "MlcError": "mlc.runtime.errors",
    "InputError": "mlc.runtime.errors",
    "ArtifactError": "mlc.runtime.errors",
    "RunError": "mlc.runtime.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mlc' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
