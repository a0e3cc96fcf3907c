"""``mlc.optim``: optimizers as gradient transformations, schedules, clipping, averages, loss scaling.

from mlc import optim

optimizer = optim.chain(optim.clip_by_global_norm(1.0), optim.adamw(optim.warmup_cosine(1e-3, 100, 5000)))
"""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.optim.factored import adafactor
from mlc.optim.mixed_precision import cast, loss_scaling
from mlc.optim.optimizers import adadelta, adagrad, adam, adamw, lamb, lion, nadam, radam, rmsprop, sgd
from mlc.optim.orthogonal import muon
from mlc.optim.schedules import constant, cosine, exponential, joined, linear, one_cycle, step_decay, warmup_cosine
from mlc.optim.second_order import conjugate_gradients, gauss_newton, lbfgs
from mlc.optim.transform import (
    GradientTransformation,
    add_decayed_weights,
    apply_updates,
    chain,
    masked,
    scale,
    scale_by_learning_rate,
)
from mlc.optim.wrappers import (
    accumulate,
    all_finite,
    apply_if_finite,
    clip_by_global_norm,
    clip_by_value,
    ema,
    global_norm,
)

__all__ = [
    "GradientTransformation",
    "accumulate",
    "adadelta",
    "adafactor",
    "adagrad",
    "adam",
    "adamw",
    "add_decayed_weights",
    "all_finite",
    "apply_if_finite",
    "apply_updates",
    "cast",
    "chain",
    "clip_by_global_norm",
    "clip_by_value",
    "conjugate_gradients",
    "constant",
    "cosine",
    "ema",
    "exponential",
    "gauss_newton",
    "global_norm",
    "joined",
    "lamb",
    "lbfgs",
    "linear",
    "lion",
    "loss_scaling",
    "masked",
    "muon",
    "nadam",
    "one_cycle",
    "radam",
    "rmsprop",
    "scale",
    "scale_by_learning_rate",
    "sgd",
    "step_decay",
    "warmup_cosine",
]

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    """AttributeError, with the nearest name."""
    if name.startswith("__"):
        raise AttributeError(f"module 'mlc.optim' has no attribute '{name}'")
    raise missing("mlc.optim", name, __all__)
