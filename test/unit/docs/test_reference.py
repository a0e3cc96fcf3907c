"""The reference pages say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from mlc.cli import app_of
from mlc.runtime.c import paths

DOCS = Path(__file__).parents[3] / "docs/reference"


def test_every_option_and_command_is_in_the_reference() -> None:
    text = (DOCS / "cli.md").read_text()
    group = typer.main.get_command(app_of())
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        assert f"`mlc {name}" in text
        subcommands = getattr(command, "commands", {"": command})
        for option in (option for sub in subcommands.values() for option in sub.params):
            flags = [
                flag for flag in (*option.opts, *option.secondary_opts) if flag.startswith("-") and flag != "--help"
            ]
            assert all(re.search(rf"[` ]{flag}[` ]", text) for flag in flags), flags


def test_every_environment_variable_is_in_the_reference() -> None:
    root = Path(__file__).parents[3]
    files = [
        p for folder in ("compiler", "runtime") for suffix in ("py", "c") for p in (root / folder).rglob(f"*.{suffix}")
    ]
    sources = [path.read_text() for path in files]
    used = {name for source in sources for name in re.findall(r'["(](MLC_[A-Z_]+)"', source)}
    text = (DOCS / "cli.md").read_text()
    assert {"MLC_CACHE_DIR", "MLC_VERIFY_WEIGHTS"} <= used
    assert all(f"`{name}`" in text for name in used), used


def test_every_function_of_the_header_is_in_the_reference() -> None:
    header = paths()["mlc_model.h.in"].read_text()
    functions = set(re.findall(r"@PREFIX@_(\w+)\(", header))
    text = (DOCS / "c-abi.md").read_text()
    assert len(functions) == 13
    assert all(f"`{name}`" in text and f"model_{name}(" in text for name in functions)
