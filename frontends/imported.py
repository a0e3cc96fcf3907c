"""What every frontend makes of a model."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from mlc.dialects.weights import WeightStore


@dataclass(frozen=True)
class Imported:
    """A graph module with one function ``@main``, the weights it names, and the model's name."""

    module: ModuleOp
    weights: WeightStore
    name: str

    def copy(self) -> Imported:
        """Return a copy for passes, which change the module and add weights."""
        return Imported(self.module.clone(), self.weights.copy(), self.name)
