"""Tables on the terminal, in one style."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mlc.errors import visible
from mlc.tools.plain_output import unfiltered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rich.console import Console
    from rich.table import Table

WIDTH = 160  # columns where stdout is no terminal, so that logs keep their rows whole


def console() -> Console:
    """Prints to stdout, without colours for numbers; text and cells as ``visible`` writes them."""
    from rich.console import Console

    class Visible(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            super().print(*map(_visible, objects), **options)

    return Visible(highlight=False, width=None if sys.stdout.isatty() else WIDTH, file=unfiltered(sys.stdout))


def _visible(each: Any) -> Any:
    """A text, or a table with its cells."""
    from rich.table import Table

    if isinstance(each, Table):
        for column in each.columns:
            column._cells = [visible(cell) if isinstance(cell, str) else cell for cell in column._cells]
    return visible(each) if isinstance(each, str) else each


def table(title: str, *columns: str) -> Table:
    """An empty table; a column whose name begins with ``>`` is set to the right."""
    from rich import box
    from rich.table import Column, Table

    made = [Column(name.lstrip(">"), justify="right" if name.startswith(">") else "left") for name in columns]
    lines = box.SIMPLE_HEAD if sys.stdout.isatty() else None  # none in a file or a pipe, where they only get in the way
    return Table(*made, title=title, title_justify="left", box=lines)


def show_rows(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows, at least one, of the same columns: two of text, the others set to the right."""
    made = table(title, *(name if n < 2 else f">{name}" for n, name in enumerate(rows[0])))
    for row in rows:
        made.add_row(*map(str, row.values()))
    console().print(made)
