"""A model's name, inputs and outputs for people: text, and HTML for notebooks."""

from __future__ import annotations

from collections.abc import Mapping

from mlc.errors import visible
from mlc.runtime.signature import TensorSpec


def text(name: str, inputs: Mapping[str, TensorSpec], outputs: Mapping[str, TensorSpec]) -> str:
    """Returns one line: ``<mlc.Model net(x: float32[n, 3]) -> (y: float32[n])>``."""
    given, made = (", ".join(f"{name}: {spec}" for name, spec in specs.items()) for specs in (inputs, outputs))
    return visible(f"<mlc.Model {name}({given}) -> ({made})>")


def html(name: str, inputs: Mapping[str, TensorSpec], outputs: Mapping[str, TensorSpec]) -> str:
    """Returns a table, with one row for each input and output."""
    from html import escape  # 4 ms that a program without a notebook does not need

    rows = "".join(
        f"<tr><td>{kind}</td><td>{escape(visible(name))}</td><td>{escape(visible(str(spec)))}</td></tr>"
        for kind, specs in (("input", inputs), ("output", outputs))
        for name, spec in specs.items()
    )
    head = "<tr><th></th><th>name</th><th>type</th></tr>"
    return f"<table><caption>mlc.Model {escape(visible(name))}</caption>{head}{rows}</table>"
