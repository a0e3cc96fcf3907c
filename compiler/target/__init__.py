"""What a kernel is compiled for: registers, vector width, caches, and the C flags that follow from them.

``get("cpu")`` is the machine mlc runs on. Named targets (``x86-64-v3``, ...) have nominal cache sizes, so an
artifact for them is the same wherever it is compiled.
"""

from __future__ import annotations

from mlc.runtime.errors import InputError
from mlc.target.host import detect
from mlc.target.model import Target
from mlc.target.named import NAMED

__all__ = ["Target", "get", "names"]


def names() -> tuple[str, ...]:
    """The names ``get`` knows, ``cpu`` (this machine) first."""
    return ("cpu", *NAMED)


def get(name: str) -> Target:
    """The target of this name; InputError lists the known names when there is none."""
    if name == "cpu":
        return detect()
    if name in NAMED:
        return NAMED[name]
    raise InputError(f"Unknown target '{name}'", stage="options", hint=f"Known targets are {', '.join(names())}")
