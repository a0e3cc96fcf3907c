"""Functions by which onnxruntime's module describes itself and the machine."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import mlc

INTERFACE = "1.32.0"
"""The version of onnxruntime whose Python interface this is; ``mlc.__version__`` is mlc's."""
PROVIDER = "CPUExecutionProvider"


def get_available_providers() -> list[str]:
    """The one provider: compiled code for the CPU has onnxruntime's name for it, which programs look for."""
    return [PROVIDER]


get_all_providers = get_available_providers


def get_device() -> str:
    """``CPU``."""
    return "CPU"


def get_build_info() -> str:
    """mlc's version."""
    return f"mlc {mlc.__version__}"


def get_version_string() -> str:
    """The version of the interface."""
    return INTERFACE


def check_providers(providers: Sequence[Any] | None, provider_options: Sequence[Any] | None = None) -> None:
    """Warn about providers that are ignored.

    Raises:
        ValueError: they are no sequence of names, or of pairs of a name and a dictionary.
    """
    if isinstance(providers, str | bytes) or not isinstance(providers or (), Sequence):
        raise ValueError("'providers' must be a list of names, such as ['CPUExecutionProvider']")
    if provider_options and len(provider_options) != len(providers or ()):
        raise ValueError("'providers' and 'provider_options' must have the same length")
    names = [_name_of(each) for each in providers or ()]
    if ignored := [name for name in names if name != PROVIDER]:
        text = f"mlc ignores the providers {ignored}: it compiles for the CPU"
        warnings.warn(f"{text}; get_available_providers() lists what there is", UserWarning, stacklevel=3)


def _name_of(provider: Any) -> str:
    if isinstance(provider, str):
        return provider
    if isinstance(provider, tuple | list) and len(provider) == 2 and isinstance(provider[0], str):
        return provider[0]
    raise ValueError("'providers' has names, or pairs of a name and a dictionary of options")


def set_default_logger_severity(level: int) -> None:
    """No effect: mlc raises errors and logs nothing."""


set_default_logger_verbosity = set_default_logger_severity


def set_seed(seed: int) -> None:
    """No effect: each model has a run counter, ``session.model.seed``."""


def disable_telemetry_events() -> None:
    """No effect: mlc sends nothing anywhere."""


enable_telemetry_events = disable_telemetry_events


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: Any = None) -> None:
    """No effect: an artifact needs libc alone."""


def print_debug_info() -> None:
    """Prints the versions and the provider."""
    print(f"mlc {mlc.__version__}, interface of onnxruntime {INTERFACE}, providers {get_available_providers()}")
