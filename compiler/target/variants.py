"""Targets with other facts: ``x86-64-v3:l2=1M,vector_registers=32``, ``x86-64-v4:avx512bf16``,
``cuda:sm_80:l2_bytes=6M``.

For machines between two named ones, and for tests.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

from mlc.errors import InputError
from mlc.target.base import Target
from mlc.target.cpu import Cache
from mlc.target.named import EXTENSIONS

LIMITS = {
    "vector_bits": (64, 4096), "vector_registers": (1, 1024), "warp": (32, 32), "block_threads": (32, 1024),
    "most_threads": (32, 1024), "library_threads": (32, 1024), "shared": (16 << 10, 1 << 20),
}  # fmt: skip
"""The least and the most of facts that passes rely on. Generated code has warps of 32 threads, as all NVIDIA GPUs."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_FACT = re.compile(r"(\w+)=([0-9]+)([KMG]?)")


def variant(target: Target, facts: str) -> Target:
    """``target`` with some facts replaced, ``field=number``, or numbers of its heuristics; the number of a cache is its
    size in bytes. A name alone is an instruction set that CPUs of the target's level may have beside its own."""
    if not facts:
        return target
    extensions = EXTENSIONS.get(target.name, ())
    heuristics = getattr(target, "heuristics", None)
    changed: dict[str, Any] = {}
    for fact in facts.split(","):
        if fact in extensions:
            changed["features"] = (*changed.get("features", target.features), fact)
            continue
        found = _FACT.fullmatch(fact)
        known = {**_numbers(target), **_numbers(heuristics)}
        if not found or found[1] not in known or not int(found[2]):
            names = f"; instruction sets are {', '.join(extensions)}" if extensions else ""
            hint = f"Write field=number, as in l2=512K; fields are {', '.join(known)}{names}"
            raise InputError(f"'{fact}' is not a fact of a target", stage="options", hint=hint)
        number, old = int(found[2]) * _UNITS[found[3]], known[found[1]]
        least, most = LIMITS.get(found[1], (1, number))
        if not least <= number <= most:
            raise InputError(f"'{fact}': no machine is like that", stage="options", hint=f"Give {least} to {most}")
        changed[found[1]] = replace(old, size=number) if isinstance(old, Cache) else number
    chosen = {name: changed.pop(name) for name in _numbers(heuristics) if name in changed}
    if chosen:
        changed["heuristics"] = replace(heuristics, **chosen)  # type: ignore[type-var]
    return replace(target, name=f"{target.name}:{facts}", **changed)


def _numbers(described: Any) -> dict[str, Any]:
    """Return the fields of a target, or of its heuristics, that are numbers or caches."""
    values = {f.name: getattr(described, f.name) for f in fields(described)} if described is not None else {}
    return {name: value for name, value in values.items() if isinstance(value, int | Cache)}
