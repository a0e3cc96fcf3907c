"""The text of a printed C function: indentation, blocks in braces, and fresh names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation


@dataclass
class CText(ABC):
    """A printer of the operations of a function, line by line."""

    lines: list[str] = field(default_factory=list, init=False)
    fresh: int = field(default=0, init=False)
    depth: int = field(default=1, init=False)

    @abstractmethod
    def op(self, op: Operation) -> None:
        """Print an operation."""

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.op(op)

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        """Return a name that no variable has yet."""
        self.fresh += 1
        return f"v{self.fresh}"

    def open(self, text: str) -> None:
        """Begin a block: ``text {``."""
        self.line(text + " {")
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.line("}")
