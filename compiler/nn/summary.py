"""The layers of a model as a table. Source: torchinfo.summary; keras.Model.summary."""

from __future__ import annotations

import math
from typing import Any

from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.nn import naming
from mlc.nn.module import Module, observed

Row = tuple[str, str, str, str]


class Summary(str):
    """A text that a prompt shows as it is."""

    def __repr__(self) -> str:
        return str(self)


def summary(model: Any, *examples: Any) -> Summary:
    """A line for each layer that has no layers within: its name, its class, how many parameters, and for example inputs
    the shape that it gives; then the sums.

    Args:
        model: a module, or a tree of modules.
        examples: arrays, or ``mlc.TensorSpec``s in their place; the model is traced for them, and nothing is computed.

    Raises:
        InputError: the model cannot take the examples.
    """
    shapes = _shapes(model, examples) if examples else {}
    rows = [_row(name, layer, shapes) for name, layer in _layers(model)]
    leaves = list(naming.named(model))
    parameters = [leaf for _, leaf, is_buffer in leaves if naming.is_parameter(leaf, is_buffer)]
    count, size = sum(map(_size, parameters)), sum(as_array(leaf).dtype.itemsize * _size(leaf) for leaf in parameters)
    more = sum(_size(leaf) for _, leaf, _ in leaves) - count
    lines = [*_table([("layer", "class", "gives", "parameters"), *rows]), f"parameters: {count:,} ({_bytes(size)})"]
    return Summary("\n".join([*lines, *([f"other elements: {more:,}"] if more else [])]))


def _layers(tree: Any, prefix: str = "") -> list[tuple[str, Module]]:
    """The innermost modules with their names, in order."""
    found: list[tuple[str, Module]] = []
    fields = getattr(tree, "__dataclass_fields__", {})
    for entry, child in trees.children(tree) or ():
        is_inlined = entry in fields and fields[entry].metadata.get(naming.INLINED)
        found += _layers(child, prefix if is_inlined else f"{prefix}{entry}.")
    return found or ([(prefix.removesuffix("."), tree)] if isinstance(tree, Module) else [])


def _shapes(model: Any, examples: tuple[Any, ...]) -> dict[str, str]:
    """What each layer gives, by its name."""
    from mlc.tracing.jit import jit

    found: dict[str, str] = {}

    def run(*inputs: Any) -> Any:
        called, copy, outputs = observed(lambda m: m(*inputs), model)
        found.update({name: _shape(outputs[id(x)]) for name, x in _layers(copy) if id(x) in outputs})
        return called

    jit(run).lower(*examples)
    return found


def _shape(output: Any) -> str:
    return ", ".join(str(list(as_array(x).shape)) for x in trees.leaves(output))


def _row(name: str, layer: Module, shapes: dict[str, str]) -> Row:
    own = [leaf for _, leaf, is_buffer in naming.named(layer) if naming.is_parameter(leaf, is_buffer)]
    shown = layer.function.__name__ if type(layer).__name__ == "Lambda" else type(layer).__name__  # type: ignore[attr-defined]
    return name or "(model)", shown, shapes.get(name, ""), f"{sum(map(_size, own)):,}"


def _size(leaf: Any) -> int:
    return math.prod(as_array(leaf).shape)  # type: ignore[arg-type]


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _table(rows: list[Row]) -> list[str]:
    kept = [n for n in range(4) if n != 2 or any(row[n] for row in rows[1:])]
    widths = [max(len(row[n]) for row in rows) for n in kept]
    lines = [
        "  ".join(row[n].rjust(w) if n == 3 else row[n].ljust(w) for n, w in zip(kept, widths, strict=True))
        for row in rows
    ]
    return [lines[0], "-" * len(lines[0]), *lines[1:], "-" * len(lines[0])]
