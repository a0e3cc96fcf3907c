"""``mlc.nn``: functions of neural networks on arrays: activations, convolutions, normalizations, attention, losses.

    import mlc.nn as nn

    loss = nn.cross_entropy(nn.relu(nn.conv(x, w, b, padding="same")), labels, axis=1)

Images are [N, C, X…]. All functions trace in ``mlc.jit`` and have derivatives.
"""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.nn import activations, attention, convolutions, losses, normalizations

_FUNCTIONS = {
    name: getattr(module, name)
    for module in (activations, convolutions, normalizations, attention, losses)
    for name in module.PUBLIC
}
__all__ = sorted(_FUNCTIONS)

globals().update(_FUNCTIONS)


def __getattr__(name: str) -> Any:  # for type checkers: the names are put in above
    raise AttributeError(f"module 'mlc.nn' has no attribute '{name}'")
