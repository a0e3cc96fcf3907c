"""Translations of ATen operators, one file a family. See ``docs/frontend/torch.md``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages


def load_all() -> None:
    """Register every operator: import each file below this folder."""
    for module in walk_packages(__path__, f"{__name__}."):
        import_module(module.name)
