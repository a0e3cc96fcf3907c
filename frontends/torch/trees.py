"""Trees of arguments and results (pytrees): names of their leaves."""

from __future__ import annotations

from typing import Any

import torch.utils._pytree as pytree
from torch.export import ExportedProgram


def output_names(program: ExportedProgram) -> list[str]:
    """A name for each leaf of the results: ``logits``, ``hidden.0``; ``output`` where there is no tree."""
    spec = program.call_spec.out_spec
    if spec is None:
        return []
    tree = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
    paths = [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    return [".".join(map(_key, path)) or "output" for path in paths]


def _key(entry: Any) -> str:
    """An entry of a path: ``output0`` for the first of a tuple at the top."""
    for name in ("key", "name", "idx"):
        if hasattr(entry, name):
            return str(getattr(entry, name))
    return str(entry)
