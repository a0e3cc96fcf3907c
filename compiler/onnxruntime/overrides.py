"""Initializers that are also inputs: a session compiles the model again, without those that a run gives values of.

The values of initializers are compiled in, which lets weights be packed. From IR version 4 on, ONNX lets a caller give
others. A model is compiled once for each set of names that runs give, and not for each value.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mlc.onnxruntime.sizes import Run

if TYPE_CHECKING:
    from onnx import ModelProto


class Overrides:
    """``run``, or a variant of the model where a feed has some of ``names``; ``compiled`` makes a run of a model."""

    def __init__(
        self, run: Run, names: frozenset[str], whole: Callable[[], ModelProto], compiled: Callable[[ModelProto], Run]
    ) -> None:
        self.run, self.names, self.whole, self.compiled = run, names, whole, compiled
        self.variants: dict[frozenset[str], Run] = {}

    def __call__(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name."""
        given = self.names.intersection(feed)
        if not given:
            return self.run(feed)
        if given not in self.variants:
            shown = ", ".join(f"'{name}'" for name in sorted(given))
            warnings.warn(f"mlc compiles the model again with the initializers {shown} as inputs", stacklevel=2)
            self.variants[given] = self.compiled(without(self.whole(), given))
        return self.variants[given](feed)


def without(model: ModelProto, names: frozenset[str]) -> ModelProto:
    """The model without these initializers, in place: its inputs of these names need values."""
    for tensors in (model.graph.initializer, model.graph.sparse_initializer):
        kept = [tensor for tensor in tensors if _name(tensor) not in names]
        del tensors[:]
        tensors.extend(kept)
    return model


def _name(tensor: Any) -> str:
    return str(tensor.values.name if hasattr(tensor, "values") else tensor.name)
