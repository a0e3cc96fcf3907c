"""The command line of an example."""

from __future__ import annotations

import argparse


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser that shows the docstring of a module as it is."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def chosen_steps(description: str | None, default: int) -> int:
    """``--steps``, how many steps to train: at least one."""
    made = parser(description)
    made.add_argument("--steps", type=int, default=default, metavar="N", help=f"of training (default: {default})")
    given: int = made.parse_args().steps
    if given < 1:
        made.error("argument --steps: give at least 1")
    return given
