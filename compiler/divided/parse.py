"""Meshes and shardings as text: ``data=2,model=2``, and ``up=-,model`` or a file of such lines, or a plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlc.comm.mesh import Mesh, P
from mlc.errors import InputError
from mlc.passes.distribute.choice.planned import LINE
from mlc.planning.settings import Auto, Plan

AUTO = "auto"


def mesh_of(text: str) -> Mesh:
    """The mesh that ``data=2,model=2`` names. InputError for other text."""
    axes = dict(_pair(each, "=") for each in text.split(","))
    return Mesh(**{name: int(size) if size.isdecimal() else 0 for name, size in axes.items()})


def sharding_of(text: str) -> tuple[str, P]:
    """``w=-,model`` as ``("w", P(None, "model"))``; ``data+model`` divides by both. InputError for other text."""
    name, spec = _pair(text, "=", last=True)
    names = (None if each == "-" else tuple(each.split("+")) for each in spec.split(",") if each)
    return name, P(*(each[0] if each and len(each) == 1 else each for each in names))


def shardings_of(arguments: Iterable[str]) -> Any:
    """The shardings of ``--shardings``, each ``auto``, NAME=SPEC or a file of these or of a plan; as ``divided.of``
    takes them.

    Raises:
        InputError: none of these, a file that cannot be read, or a plan beside shardings.
    """
    found: dict[str, P] = {}
    how: Auto | Plan | None = None
    for text in arguments:
        if text == AUTO:
            how = Auto()
        elif "=" in text and not Path(text).is_file():
            found |= [sharding_of(text)]
        else:
            said = _read(Path(text))
            if LINE.match(said) or "\noperator " in said or "\nmesh " in said or said.startswith("mesh "):
                how = Plan(said)
            else:
                lines = (line.partition("#")[0].strip() for line in said.splitlines())
                found |= dict(map(sharding_of, filter(None, lines)))
    if isinstance(how, Plan) and found:
        raise InputError("Shardings beside a plan, which has them", hint="Edit the plan, or search a new one")
    return replace(how, fixed=found) if isinstance(how, Auto) else how or found


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        hint = "Give NAME=SPEC such as up=-,model, a file of such lines or of a plan, or auto"
        raise InputError(f"Cannot read the shardings '{path}': {error}", hint=hint) from None


def _pair(text: str, sign: str, last: bool = False) -> tuple[str, str]:
    name, equals, value = text.rpartition(sign) if last else text.partition(sign)
    if not equals or not name:
        raise InputError(f"'{text}' is not NAME=VALUE", hint="Write --mesh data=2,model=2 and --shardings w=-,model")
    return name, value
