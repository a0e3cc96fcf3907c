"""Instruments: observers that the driver calls before and after each pass and step of a compilation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from mlc.dialects.weights import WeightStore


class Instrument:
    """An observer that does nothing; subclasses override what they need. Steps without IR, such as the C compiler, have
    no ``module`` and no ``weights``. For one that reads IR (``reads_ir``) every kernel is lowered, though an earlier
    compilation may have lowered an equal one.
    """

    reads_ir = True

    def expect(self, steps: int) -> None:
        """Called once, with the number of steps to come."""

    def before(self, name: str, module: ModuleOp | None, weights: WeightStore | None) -> None:
        """Called before the pass ``name``, such as ``graph.fold-constants``."""

    def after(self, name: str, module: ModuleOp | None, weights: WeightStore | None) -> None:
        """Called after it."""


@contextmanager
def step(
    instruments: Sequence[Instrument],
    name: str,
    module: ModuleOp | None = None,
    weights: WeightStore | None = None,
) -> Iterator[None]:
    """Call the instruments before and after the body of the ``with``; not after it if it fails."""
    for instrument in instruments:
        instrument.before(name, module, weights)
    yield
    for instrument in instruments:
        instrument.after(name, module, weights)
