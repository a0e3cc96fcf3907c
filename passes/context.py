"""What a pass may read beside the module: the weights, which never enter the IR."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context

from mlc.dialects.weights import WeightStore


@dataclass
class MlcContext(Context):
    """An xDSL context that carries the weights of the model being compiled."""

    weights: WeightStore = field(default_factory=WeightStore)

    def clone(self) -> MlcContext:
        """A copy with dialects of its own; the weights are shared (passes only ever add entries)."""
        copy = super().clone()
        return MlcContext(**{name: getattr(copy, name) for name in vars(copy)}, weights=self.weights)


def weights_of(ctx: Context) -> WeightStore:
    """The weights of ``ctx``; an empty store for a plain xDSL context, where no weight can be read."""
    return ctx.weights if isinstance(ctx, MlcContext) else WeightStore()
