"""Plug-ins: targets, backends, frontends, ONNX operators and passes of other packages, by their entry points.

    [project.entry-points."mlc.targets"]
    tiny = "my_package.targets:TINY"            # a Target, or a function that returns one

    [project.entry-points."mlc.backends"]
    dsp = "my_package.backend:DspBackend"       # makes the Backend of a target whose kind is dsp

    [project.entry-points."mlc.frontends"]
    layers = "my_package.layers:LayersSource"   # makes the Source of a file of this suffix, .layers

    [project.entry-points."mlc.operators"]
    mine = "my_package.operators"               # a module whose functions are registered by @onnx_op

    [project.entry-points."mlc.passes"]
    clamp = "my_package.clamp:ClampExponents"   # a pass with the attribute stage, and after or before

A plug-in is imported when it is needed: a target or frontend by its name, the others when something is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mlc.errors import InputError

if TYPE_CHECKING:
    from mlc.pipelines.backend import Backend, Stages
    from mlc.target.base import Target

GROUPS = ("mlc.targets", "mlc.backends", "mlc.frontends", "mlc.operators", "mlc.passes")


class Plugin(NamedTuple):
    """What a package adds: ``loads`` is the object's place, ``problem`` why it cannot be used."""

    group: str
    name: str
    loads: str
    package: str
    version: str
    problem: str = ""


@cache
def found(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name; of two of one name the first."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        points.setdefault(point.name, point)
    return points


def loaded(group: str, name: str) -> Any:
    """The object of an entry point.

    Raises:
        InputError: it cannot be imported.
    """
    point = found(group)[name]
    try:
        return point.load()
    except Exception as error:
        what = f"The plug-in '{name}' ({group}, {point.value}) of the package {_package(point)} cannot be loaded"
        raise InputError(f"{what}: {type(error).__name__}: {error}", hint="Mend or uninstall the package") from error


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "unknown"


def every() -> list[Plugin]:
    """All plug-ins of this environment, those too that cannot be loaded."""
    return [_described(group, point) for group in GROUPS for point in found(group).values()]


def _described(group: str, point: EntryPoint) -> Plugin:
    version = point.dist.version if point.dist is not None else ""
    problem = _problem(group, point.name)
    return Plugin(group, point.name, point.value, _package(point), version, problem)


def _problem(group: str, name: str) -> str:
    """Why a plug-in cannot be used; nothing where it can be."""
    try:
        if group == "mlc.targets":
            from mlc.target import BUILT_IN

            if name in BUILT_IN:
                return "hidden by mlc's own target of this name"
            target_named(name)
        elif group == "mlc.passes":
            placed(name, loaded(group, name))
        else:
            loaded(group, name)
    except InputError as error:
        return str(error)
    return ""


def target_named(name: str) -> Target:
    """The target of a plug-in.

    Raises:
        InputError: it is none, or has another name.
    """
    from mlc.target.base import Target

    given = loaded("mlc.targets", name)
    made = given if isinstance(given, Target) else given() if callable(given) else given
    if not isinstance(made, Target) or made.name != name:
        shown = f"the target '{made.name}'" if isinstance(made, Target) else f"a {type(made).__name__}"
        hint = f"Give a Target whose name is '{name}'"
        raise InputError(f"The plug-in '{name}' of mlc.targets is {shown}", hint=hint)
    return made


def backend_named(kind: str) -> Callable[[Target], Backend]:
    """Return what makes the backend of a kind of machine that mlc does not know.

    Raises:
        InputError: no plug-in has a backend for it.
    """
    if kind not in found("mlc.backends"):
        known = ", ".join(("cpu", "gpu", *found("mlc.backends")))
        hint = f"Install a plug-in with the entry point '{kind}' of mlc.backends; known are {known}"
        raise InputError(f"There is no backend for machines of the kind '{kind}'", stage="options", hint=hint)
    return loaded("mlc.backends", kind)


def frontend_of(path: Path) -> Any:
    """What makes the source of a file, by its suffix; None where no plug-in reads such files."""
    name = path.suffix.removeprefix(".")
    return loaded("mlc.frontends", name) if name and name in found("mlc.frontends") else None


@cache
def load_operators() -> None:
    """Import the modules of ONNX operators, which register themselves."""
    for name in found("mlc.operators"):
        loaded("mlc.operators", name)


@cache
def passes() -> tuple[tuple[str, Any], ...]:
    """The passes by the names of their plug-ins."""
    return tuple((name, loaded("mlc.passes", name)) for name in sorted(found("mlc.passes")))


class Place(NamedTuple):
    """Where a pass runs: in a stage, ``after`` or ``before`` a pass by name, or at the end."""

    stage: str
    after: str
    before: str


def placed(name: str, given: Any) -> Place:
    """Where a pass runs.

    Raises:
        InputError: it is no pass with a stage.
    """
    from xdsl.passes import ModulePass

    from mlc.pipelines import STAGES

    stage = getattr(given, "stage", None)
    if not (isinstance(given, type) and issubclass(given, ModulePass)) or stage not in STAGES:
        what = f"The plug-in '{name}' of mlc.passes is no pass of a stage"
        raise InputError(what, hint=f"Give a ModulePass with the class attribute stage, one of {', '.join(STAGES)}")
    return Place(stage, getattr(given, "after", ""), getattr(given, "before", ""))


def with_passes(stages: Stages) -> Stages:
    """The stages of a pipeline with the passes of plug-ins.

    Raises:
        InputError: the pass that one is to follow is not in its stage.
    """
    made = [(stage, list(own)) for stage, own in stages]
    for name, kind in passes():
        place = placed(name, kind)
        for stage, own in made:
            if stage == place.stage:
                own.insert(_position(name, place, [each.name for each in own]), kind())
    return made


def _position(name: str, place: Place, names: Sequence[str]) -> int:
    """Before the verifier of the stage, unless the pass says where."""
    wanted = place.after or place.before
    if not wanted:
        return len(names) - (bool(names) and names[-1].startswith("verify-"))
    if wanted not in names:
        what = f"The pass '{name}' is to run beside '{wanted}', which stage '{place.stage}' does not have"
        raise InputError(what, hint=f"Its passes are {', '.join(names)}")
    return names.index(wanted) + bool(place.after)


def code_of(source: Any) -> Iterator[tuple[str, str]]:
    """Digests of what plug-ins do to a source: the passes, and the source's own class."""
    from mlc.driver.cache import code_digest

    for name, kind in passes():
        yield f"pass {name}", code_digest.of(kind)
    if not type(source).__module__.startswith("mlc."):
        yield "frontend", code_digest.of(type(source))


def code_of_target(target: Target) -> Iterator[tuple[str, str]]:
    """Digests of what plug-ins do for a target: the target's own class, and its backend."""
    from mlc.driver.cache import code_digest

    if not type(target).__module__.startswith("mlc."):
        yield "target", code_digest.of(type(target))
    if target.kind in found("mlc.backends"):
        yield "backend", code_digest.of(backend_named(target.kind))
