"""Plans of functions on a mesh: searched for a partitioned program, and taken over by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mlc.comm.mesh import P
from mlc.errors import InputError
from mlc.planning.fixing import Divided, arguments_and_results
from mlc.planning.imported import search_imported
from mlc.planning.search import Search
from mlc.planning.settings import Auto, Plan
from mlc.planning.written import written

if TYPE_CHECKING:
    from mlc.comm.partitioned import Leaf, Partitioned


def with_plan(found: Partitioned, how: Auto | Plan, updates: Mapping[int, int], free: bool) -> Partitioned:
    """Return a program that follows a plan. ``free``: the plan says how results are divided.

    Raises:
        InputError: the plan is of another program, or no plan fits in the memory of a rank.
    """
    text = how.text if isinstance(how, Plan) else written(searched_of(found, how, updates))
    arguments, results = arguments_and_results(text, found.mesh.axes)
    if max(arguments, default=0) >= len(found.arguments) or max(results, default=0) >= len(found.results):
        what = f"The plan is of a function of {len(arguments)} arrays with {len(results)} results"
        raise InputError(f"{what}; this one has {len(found.arguments)} and {len(found.results)}",
                         hint="Search a new plan for this function")  # fmt: skip
    given = _leaves(found.arguments, arguments, all(leaf.spec is not None for leaf in found.arguments))
    made = _leaves(found.results, results, not free)
    return replace(found, arguments=given, results=made, given=text)


def searched_of(found: Partitioned, how: Auto, updates: Mapping[int, int]) -> Search:
    """Search a plan for a partitioned program; ``updates``: results that replace arguments."""
    return search_imported(found.imported(), found.traced.options, how, updates)


def _leaves(leaves: tuple[Leaf, ...], divided: Divided, keep: bool) -> tuple[Leaf, ...]:
    if keep:
        return leaves
    return tuple(replace(leaf, spec=_spec(divided[n])) if n in divided else leaf for n, leaf in enumerate(leaves))


def _spec(dims: list[list[str]]) -> P:
    return P(*(None if not names else names[0] if len(names) == 1 else tuple(names) for names in dims))
