"""A branch of a node together with the nodes after it, imported as far as possible."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mlc.errors import InputError
from mlc.frontends.build.control.sides import Side
from mlc.frontends.onnx.errors import Unsupported
from mlc.frontends.onnx.graphs.subgraph import Part
from mlc.frontends.onnx.node import Make

if TYPE_CHECKING:
    from mlc.frontends.onnx.importer import Importer


class Alternative:
    """A branch, the nodes after it as they are after this branch, and why it cannot be imported, if it cannot."""

    def __init__(self, importer: Importer, part: Part) -> None:
        self.importer = importer
        self.side = Side(importer.build)
        self.values = ChainMap[str, Any]({}, part.values)  # its own first
        self.part = part.beside(self.values)
        self.failure: InputError | None = None
        self.unsupported: list[Unsupported] = []

    @property
    def fails(self) -> bool:
        return self.failure is not None or bool(self.unsupported)

    @property
    def absent(self) -> list[Unsupported]:
        """The operators of the branch that mlc lacks. With some of them the branch can run at no sizes or values."""
        return [each for each in self.unsupported if each.absent]

    @property
    def why(self) -> str:
        return "; ".join(map(str, self.unsupported)) or str(self.failure)

    def attempt(self, make: Callable[[], None]) -> None:
        """Import something in this branch, and record here what fails."""
        noted = self.importer.unsupported
        before = len(noted)
        try:
            with self.side.inside():
                make()
        except InputError as error:
            self.failure = error
        self.unsupported += noted[before:]
        del noted[before:]

    def begin(self, make: Make, names: Sequence[str]) -> None:
        """Give ``names``, the outputs of the node before ``part.next``, the values that ``make`` makes of it."""

        def values() -> None:
            results = make(self.importer.bound(self.part, self.part.next - 1))
            self.part.values.update(zip(names, results, strict=False))

        self.attempt(values)
