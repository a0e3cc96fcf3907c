"""The context of a pass: the weights, which never enter the IR, and the facts of the target."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context

from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.target import DEFAULT, CpuTarget, GpuTarget, Target


@dataclass
class MlcContext(Context):
    """An xDSL context with the weights of the model and the target that it is compiled for."""

    weights: WeightStore = field(default_factory=WeightStore)
    target: Target = DEFAULT

    def clone(self) -> MlcContext:
        """Return a copy with dialects of its own. Both contexts share the weight store, to which passes only add
        entries."""
        return with_target(super().clone(), self.target, self.weights)


def with_target(ctx: Context, target: Target, weights: WeightStore | None = None) -> MlcContext:
    """Return a context that has the dialects of ``ctx``, and ``target`` as its target."""
    weights = WeightStore() if weights is None else weights
    return MlcContext(**{name: value for name, value in vars(ctx).items() if name not in ("weights", "target")},
                      weights=weights, target=target)  # fmt: skip


def weights_of(ctx: Context) -> WeightStore:
    """The weights of ``ctx``; an empty store for a plain xDSL context."""
    return ctx.weights if isinstance(ctx, MlcContext) else WeightStore()


def machine_of(ctx: Context) -> Target:
    """Return the target of ``ctx``, a CPU or a GPU; the default target for a plain xDSL context."""
    return ctx.target if isinstance(ctx, MlcContext) else DEFAULT


def gpu_of(ctx: Context) -> GpuTarget:
    """Return the GPU target of ``ctx``. Raises InputError if the target is a CPU."""
    return gpu_facts(machine_of(ctx))


def gpu_facts(target: Target) -> GpuTarget:
    """Return a target that has the facts of a GPU. Raises InputError for a CPU."""
    if not isinstance(target, GpuTarget):
        raise _other_kind("GPU", target)
    return target


def target_of(ctx: Context) -> CpuTarget:
    """Return the CPU target of ``ctx``; the default target for a plain xDSL context. Raises InputError if the target is
    a GPU."""
    return cpu_facts(machine_of(ctx))


def cpu_facts(target: Target) -> CpuTarget:
    """Return a target that has the facts of a CPU. Raises InputError for a GPU."""
    if not isinstance(target, CpuTarget):
        raise _other_kind("CPU", target)
    return target


def _other_kind(wanted: str, target: Target) -> InputError:
    """Return the error for a pass of CPUs or GPUs (``wanted``) that ``mlc-opt`` runs on a module of a target of the
    other kind."""
    name = next(name for name, kind in (("cuda", "GPU"), (DEFAULT.name, "CPU")) if kind == wanted)
    return InputError(
        f"A pass for {wanted}s cannot run on a module for '{target.name}'", hint=f"Give --for-target {name}"
    )
