"""Targets: the facts of machines, from which all schedules, layouts and C flags follow.

``get("cpu")`` is the machine mlc runs on. Named targets (``x86-64-v3``, ...) have nominal capacities, so an artifact
for them is the same wherever it is compiled. ``x86-64-v3:l2=1M,vector_registers=32`` is one with other facts.
``cuda`` is an NVIDIA GPU, ``cuda:sm_90`` one architecture of them, ``cuda:sm_90:l2_bytes=6M`` one with other facts.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from mlc.errors import InputError
from mlc.target.base import Target
from mlc.target.cpu import Cache, CpuTarget
from mlc.target.gpu import GPUS, GpuTarget
from mlc.target.host import detect
from mlc.target.named import DEFAULT, NAMED
from mlc.target.variants import variant

__all__ = ["DEFAULT", "Cache", "CpuTarget", "GpuTarget", "Target", "get", "names"]


BUILT_IN = ("cpu", *NAMED, *GPUS)
"""The names of mlc's own targets."""


def names() -> tuple[str, ...]:
    """The names of targets, ``cpu`` (this machine) first, those of plug-ins last."""
    from mlc import plugins

    return (*BUILT_IN, *NAMED.keys() - {*BUILT_IN}, *(n for n in plugins.found("mlc.targets") if n not in BUILT_IN))


def _base(name: str, known: tuple[str, ...]) -> str:
    """The longest known name that ``name`` begins with."""
    return max((each for each in known if f"{name}:".startswith(f"{each}:")), key=len, default="")


def _found(base: str) -> Target:
    if base == "cpu":
        return detect()
    if base in NAMED or base in GPUS:
        return {**NAMED, **GPUS}[base]
    from mlc import plugins

    return plugins.target_named(base)


def get(name: str) -> Target:
    """The target of this name, with the facts after a colon. InputError lists the known names."""
    if not isinstance(name, str):
        raise InputError(f"A target is a name, not a {type(name).__name__}", stage="options", hint=_instead(""))
    base = _base(name, (*BUILT_IN, *NAMED)) or _base(name, names())
    facts = name[len(base) + 1 :]
    if not base or (base in GPUS and facts and "=" not in facts):
        unknown = name if base else name.partition(":")[0]
        raise InputError(f"Unknown target '{unknown}'", stage="options", hint=_instead(unknown))
    return variant(_found(base), facts)


def _instead(unknown: str) -> str:
    """What to write: for a GPU the target whose code it runs, that of an earlier minor version of its generation."""
    known = f"Known targets are {', '.join(names())}"
    found = re.fullmatch(r"cuda:sm_(\d+)(\d)a?", unknown)
    same = [name for name in GPUS if found and name.startswith(f"cuda:sm_{found[1]}") and name < unknown]
    if found and same:
        return f"GPUs of sm_{found[1]}{found[2]} run the code for {same[-1]}. {known}"
    near = ["cuda"] if re.search("gpu|nvidia", unknown.lower()) else get_close_matches(unknown, names(), 1)
    return f"Did you mean '{near[0]}'? {known}" if near else known
