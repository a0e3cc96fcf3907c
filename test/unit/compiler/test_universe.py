"""Every dialect and every pass is known to mlc-opt by its name."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

import mlc.dialects
import mlc.passes
from mlc.universe import UNIVERSE


def modules(package) -> list:  # type: ignore[no-untyped-def, type-arg]
    return [import_module(m.name) for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]


def test_every_pass_is_listed_under_its_name() -> None:
    found = {
        value
        for module in modules(mlc.passes)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, ModulePass) and value.__module__ == module.__name__
    }
    listed = {name: load() for name, load in UNIVERSE.all_passes.items()}
    assert set(listed.values()) == found
    assert all(name == p.name for name, p in listed.items())


def test_every_dialect_is_listed_under_its_name() -> None:
    found = {v.name for m in modules(mlc.dialects) for v in vars(m).values() if isinstance(v, Dialect)}
    mine = {name for name in found if (module := UNIVERSE.all_dialects.get(name)) and module().name == name}
    assert set(UNIVERSE.all_dialects) == mine


def test_no_name_is_taken_by_xdsl() -> None:
    assert set(UNIVERSE.all_passes) < set(Universe.get_multiverse().all_passes)


def test_every_pass_says_what_it_does() -> None:
    for name, load in UNIVERSE.all_passes.items():
        text = import_module(load().__module__).__doc__ or ""
        assert f"(``{name}``" in text.partition(":")[0] or text.startswith(f"``{name}``"), name
