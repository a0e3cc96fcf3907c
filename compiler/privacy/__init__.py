"""``mlc.privacy``: training with differential privacy (DP-SGD), and what it spends."""

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.privacy.accounting import epsilon, noise_for
from mlc.privacy.gradients import noisy_sum, private_value_and_grad

__all__ = ["epsilon", "noise_for", "noisy_sum", "private_value_and_grad"]

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.privacy", name, __all__)
