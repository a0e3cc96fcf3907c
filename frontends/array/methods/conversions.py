"""Conversions of arrays to what other packages and Python's functions take: DLPack, numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np


class Conversions(ABC):
    """Mixin of arrays: what reads the elements, by ``numpy``, which evaluates the trace."""

    __slots__ = ()

    @abstractmethod
    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements."""

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The elements without a copy, read-only, for a consumer that knows such arrays; a copy for others."""
        data = self.numpy().view()
        data.flags.writeable = False
        if copy or (max_version or (0, 0)) < (1, 0):
            data = data.copy()
        return data.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def item(self) -> Any:
        return self.numpy().item()

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __complex__(self) -> complex:
        return complex(self.numpy())

    def __index__(self) -> int:
        return self.numpy().__index__()

    if not TYPE_CHECKING:  # with it every attribute would pass

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError, which names the function that serves in place of a method."""
            message = f"an array has no attribute '{name}'"
            if not name.startswith("_") and callable(getattr(import_module("mlc.numpy"), name, None)):
                message += f". Use mlc.numpy.{name}(x)"
            raise AttributeError(message, name=name, obj=self)
