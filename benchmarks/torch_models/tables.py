"""What the two commands on models of PyTorch share: arguments, and results that are kept while they are made."""

from __future__ import annotations

import argparse
import json
import logging
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Results = dict[str, dict[str, Any]]


def arguments(text: str) -> argparse.Namespace:
    """Models, the page to write, and the file that keeps results; warnings of models are hidden."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names, all without")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE")
    parser.add_argument("--json", type=Path)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    return parser.parse_args()


def kept_results(
    given: argparse.Namespace,
    names: Sequence[str],
    measured: Callable[[str], dict[str, Any]],
    line: Callable[[str, dict[str, Any]], str],
) -> Results:
    """The result of each model, made or read from the file; printed as a line when it is made."""
    found: Results = json.loads(given.json.read_text()) if given.json and given.json.exists() else {}
    for name in names:
        if name not in found:
            found[name] = measured(name)
            print(line(name, found[name]), flush=True)
        if given.json:
            given.json.write_text(json.dumps(found, indent=1))
    return found
