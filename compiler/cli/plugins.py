"""mlc plugins: list what other packages add."""

from __future__ import annotations

import typer


def command() -> None:
    """List the targets, frontends, operators and passes of other packages; exit status 2 if one cannot be used."""
    from mlc.plugins import every

    found = every()
    for each in found:
        print(f"{each.group:15}{each.name:20}{each.package} {each.version}  {each.loads}")
        if each.problem:
            print(f"{'':15}{each.problem}")
    if not found:
        print("No package has entry points for mlc")
    if any(each.problem for each in found):
        raise typer.Exit(2)
