"""Errors of the PyTorch frontend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlc.errors import InputError


@dataclass(frozen=True)
class Unsupported:
    """One operator of a program that mlc cannot compile, the user's line that calls it, and why; ``node``: which of the
    graph's it is."""

    op: str
    where: str
    why: str
    node: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.op} at {self.where}: {self.why}"


class UnsupportedError(InputError):
    """The program uses what mlc does not support; ``found`` lists all of it, ``nodes`` are those of the graph."""

    def __init__(self, found: Sequence[Unsupported]) -> None:
        self.nodes = frozenset(each.node for each in found if each.node)
        self.found = tuple(dict.fromkeys(found))
        lines = "".join(f"\n  {item}" for item in self.found)
        super().__init__(f"The program uses {len(self.found)} unsupported thing(s):{lines}", stage="import")

    def __reduce__(self) -> tuple[object, ...]:
        return UnsupportedError, (self.found,)
