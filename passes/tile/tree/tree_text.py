"""Schedule trees in isl's syntax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def parallel_band(members: Mapping[str, str]) -> str:
    """Return a band of one parallel dimension, with its term for each tuple."""
    terms = "; ".join(f"{name} -> [({value})]" for name, value in members.items())
    return f'schedule: "[{{ {terms} }}]", permutable: 1, coincident: [ 1 ]'


def stream_band(members: Mapping[str, str]) -> str:
    """Return a band of one dimension that runs in order, with its term for each tuple."""
    terms = "; ".join(f"{name} -> [({value})]" for name, value in members.items())
    return f'schedule: "[{{ {terms} }}]"'


def child_of(tree: str) -> str:
    return f", child: {{ {tree} }}" if tree else ""


def sequence(parts: Sequence[tuple[list[str], str]]) -> str:
    if len(parts) == 1:
        return parts[0][1]
    filters = [f'{{ filter: "{{ {"; ".join(names)} }}"{child_of(tree)} }}' for names, tree in parts]
    return "sequence: [ " + ", ".join(filters) + " ]"
