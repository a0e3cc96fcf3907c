"""Names of a module's arrays, which are PyTorch's, and arrays by name from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, as_array

BUFFER, INLINED = "buffer", "inlined"  # metadata of fields

Named = tuple[str, Any, bool]


def named(tree: Any, prefix: str = "", is_buffer: bool = False) -> Iterator[Named]:
    """(name, leaf, whether it is a buffer) of each leaf, in the order of ``flatten``."""
    children = trees.children(tree)
    if children is None:
        yield prefix.removesuffix("."), tree, is_buffer
        return
    fields = getattr(tree, "__dataclass_fields__", {})
    for entry, child in children:
        metadata = fields[entry].metadata if entry in fields else {}
        within = prefix if metadata.get(INLINED) else f"{prefix}{entry}."
        yield from named(child, within, is_buffer or bool(metadata.get(BUFFER)))


def owner_of(tree: Any, name: str, prefix: str = "") -> tuple[Any, Any]:
    """The tree that has the leaf of this name, or None in its place, and its key, index or field there.

    Raises:
        KeyError: there is none.
    """
    for entry, child in trees.children(tree) or ():
        metadata = getattr(tree, "__dataclass_fields__", {}).get(entry)
        within = prefix if metadata is not None and metadata.metadata.get(INLINED) else f"{prefix}{entry}."
        if child is None or trees.children(child) is None:
            if within == f"{name}.":
                return tree, entry
        elif name.startswith(within):
            try:
                return owner_of(child, name, within)
            except KeyError:
                continue
    raise KeyError(name)


def is_parameter(leaf: Any, is_buffer: bool) -> bool:
    """Whether it is a float that is no buffer."""
    element = leaf.element if isinstance(leaf, Array) else dtypes.element(np.asarray(leaf).dtype)
    return not is_buffer and dtypes.kind(element) >= 2


def replaced(leaves: Mapping[str, Any], values: Mapping[str, Any], strict: bool, what: str) -> dict[str, Any]:
    """The leaves with those of ``values``, in the leaves' types.

    Raises:
        InputError: another shape, or with ``strict`` names that are missing or unknown.
    """
    missing, unknown = sorted(leaves.keys() - values), sorted(values.keys() - leaves.keys())
    if strict and (missing or unknown):
        parts = [f"{title} {', '.join(some)}" for title, some in (("no", missing), ("unknown", unknown)) if some]
        raise InputError(f"The state of {what} has {' and '.join(parts)}", hint="Use strict=False to load the others")
    return {name: _like(name, leaf, values[name]) if name in values else leaf for name, leaf in leaves.items()}


def _like(name: str, leaf: Any, value: Any) -> Array:
    given = as_array(from_tensor(value))
    wanted = as_array(leaf)
    if given.shape != wanted.shape:
        raise InputError(
            f"'{name}' has the shape {given.shape}, where the model has {wanted.shape}",
            hint="Load the state of the same model",
        )
    return as_array(given.numpy().astype(wanted.dtype))


def from_tensor(value: Any) -> Any:
    """A tensor of PyTorch as a NumPy array, without importing PyTorch; other arrays as they are."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return value.float().numpy() if str(value.dtype) == "torch.bfloat16" else value.numpy()
    return value


def shown(value: Any) -> str:
    """A short text: type and shape of an array."""
    if isinstance(value, Array | np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {shown(v)}' for k, v in value.items())}}}"
    return getattr(value, "__name__", None) or repr(value)
