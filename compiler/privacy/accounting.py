"""What training with private gradients spends, by the accountants of Google's ``dp-accounting``."""

from __future__ import annotations

from typing import Any

from mlc.errors import InputError


def epsilon(noise_multiplier: float, sample_rate: float, steps: int, delta: float, accountant: str = "pld") -> float:
    """The ε of (ε, δ)-differential privacy after ``steps``, each on examples that are drawn with the probability
    ``sample_rate`` (Poisson sampling), for neighbours that differ by one example more or less.

    ``accountant``: ``pld`` (privacy loss distributions), or ``rdp`` (Rényi divergences), which is looser.

    Raises:
        InputError: dp-accounting is not installed, or there is no such accountant.
    """
    made = _accountant(accountant)
    made.compose(_event(noise_multiplier, sample_rate), steps)
    return float(made.get_epsilon(delta))


def noise_for(target: float, sample_rate: float, steps: int, delta: float, accountant: str = "pld") -> float:
    """The noise multiplier with which ``steps`` spend at most the ε ``target``, found by bisection to 0.1 %.

    Raises:
        InputError: as ``epsilon``, or no noise up to 1,000 is enough.
    """
    low, high = 0.0, 1.0
    while epsilon(high, sample_rate, steps, delta, accountant) > target:
        low, high = high, 2 * high
        if high > 1000:
            what = f"ε = {target} is less than what noise of 1,000 spends"
            raise InputError(what, hint="Give more, fewer steps or a larger δ")
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        enough = epsilon(middle, sample_rate, steps, delta, accountant) <= target
        low, high = (low, middle) if enough else (middle, high)
    return high


def _accountant(name: str) -> Any:
    if name not in ("pld", "rdp"):
        raise InputError(f"There is no accountant {name!r}", hint="Give pld or rdp")
    try:
        from dp_accounting import pld, rdp
    except ImportError:
        raise InputError("An accountant needs dp-accounting", hint="Run pip install 'mlc[privacy]'") from None
    return pld.PLDAccountant() if name == "pld" else rdp.RdpAccountant()


def _event(noise_multiplier: float, sample_rate: float) -> Any:
    import dp_accounting

    event = dp_accounting.GaussianDpEvent(noise_multiplier)
    return event if sample_rate == 1 else dp_accounting.PoissonSampledDpEvent(sample_rate, event)
