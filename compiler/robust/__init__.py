"""``mlc.robust``: attacks on classifiers, and bounds that prove that none succeeds."""

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.robust.attacks import fgsm, pgd
from mlc.robust.bounds import certified, interval_bounds

__all__ = ["certified", "fgsm", "interval_bounds", "pgd"]

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.robust", name, __all__)
