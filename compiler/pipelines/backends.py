"""The backend of a target, by the kind of its machine."""

from __future__ import annotations

from mlc import plugins
from mlc.pipelines.backend import Backend
from mlc.target import Target


def backend_of(target: Target) -> Backend:
    """Return the backend of a target: mlc's own, or that of a plug-in (``mlc.backends``) named as the target's kind.

    Raises:
        InputError: no backend has this name.
    """
    if target.kind == "cpu":
        from mlc.pipelines.cpu_backend import CpuBackend

        return CpuBackend(target)  # type: ignore[arg-type]
    if target.kind == "gpu":
        from mlc.pipelines.gpu_backend import GpuBackend

        return GpuBackend(target)  # type: ignore[arg-type]
    return plugins.backend_named(target.kind)(target)
