"""Sets and maps of isl whose parameters are the names that the constraints do not bind: the rank, extents, blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import islpy as isl

WORDS = {"exists", "and", "or", "mod", "floor", "true", "false", "min", "max"}
NAME = re.compile(r"[A-Za-z_]\w*")


def isl_set(names: Sequence[str], iterators: Sequence[str], conditions: str) -> isl.Set:
    """Return ``[parameters] -> { [names] : exists iterators: conditions }``."""
    space = f"[{', '.join(names)}]"
    return isl.Set(f"{_parameters(conditions, [*names, *iterators])}{{ {space} : {_where(iterators, conditions)} }}")


def isl_map(names: Sequence[str], targets: Sequence[str], iterators: Sequence[str], conditions: str) -> isl.Map:
    """Return ``[parameters] -> { [names] -> [targets] : exists iterators: conditions }``."""
    space = f"[{', '.join(names)}] -> [{', '.join(targets)}]"
    bound = [*names, *targets, *iterators]
    return isl.Map(f"{_parameters(conditions, bound)}{{ {space} : {_where(iterators, conditions)} }}")


def fixed(found: isl.Set, given: Mapping[str, int]) -> isl.Set:
    """Return a set for values of all its parameters."""
    for name in parameters(found):
        found = found.fix_val(isl.dim_type.param, 0, isl.Val(given[name])).project_out(isl.dim_type.param, 0, 1)
    return found


def parameters(found: isl.Set) -> list[str]:
    """Return the names of the parameters of a set."""
    return [str(found.get_dim_name(isl.dim_type.param, n)) for n in range(found.dim(isl.dim_type.param))]


def _parameters(conditions: str, bound: Sequence[str]) -> str:
    free = sorted({"rank_", *NAME.findall(conditions)} - WORDS - set(bound))
    return f"[{', '.join(free)}] -> "


def _where(iterators: Sequence[str], conditions: str) -> str:
    return f"exists {', '.join(iterators)}: {conditions}" if iterators else conditions
