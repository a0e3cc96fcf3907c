"""Errors of the ONNX frontend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.errors import InputError
from mlc.frontends.build.errors import NotSupported


class Absent(NotSupported):
    """mlc has no such operator."""


@dataclass(frozen=True)
class Unsupported:
    """One thing of a model that mlc cannot compile: an operator (of a domain and opset) at a node, and why."""

    op: str
    domain: str
    opset: int
    node: str
    why: str
    constant: bool = False  # would be supported if an input were a constant
    absent: bool = False  # mlc has no such operator

    def __str__(self) -> str:
        name = f"{self.domain}.{self.op}" if self.domain else self.op
        return f"{name} (opset {self.opset}) at node '{self.node}': {self.why}"


class UnsupportedError(InputError):
    """The model uses what mlc does not support; ``found`` lists all of it."""

    def __init__(self, found: Sequence[Unsupported]) -> None:
        self.found = tuple(found)
        lines = "".join(f"\n  {item}" for item in self.found)
        super().__init__(f"The model uses {len(self.found)} unsupported thing(s):{lines}", stage="import")

    def __reduce__(self) -> tuple[object, ...]:
        return UnsupportedError, (self.found,)
