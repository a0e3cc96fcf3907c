"""The library that products, attention and convolutions on a GPU are compared with."""

from __future__ import annotations

import importlib
from typing import Any


def torch_on_gpu() -> Any:
    """torch with its default stream current, whose work the device's events time; None where torch has no GPU."""
    try:
        torch = importlib.import_module("torch")
        if not torch.cuda.is_available():
            return None
        torch.cuda.set_stream(torch.cuda.default_stream())
    except Exception:
        return None
    return torch
