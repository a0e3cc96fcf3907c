"""mlc plan: how the ranks of a mesh divide a function or a model, what moves, and why; ``--auto`` searches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlc.cli.common import Dims, SourcePath, Types, parse_dims
from mlc.cli.functions import is_function, jitted_named, specs_of_inputs
from mlc.errors import InputError

if TYPE_CHECKING:
    from mlc.planning import Auto


def command(
    function: SourcePath,
    types: Types = [],  # noqa: B006 - typer reads the default, nothing changes it
    dim: Dims = [],  # noqa: B006
    mesh: Annotated[str, typer.Option(help="The mesh, as data=2,model=2; that of mlc.jit otherwise.")] = "",
    shard: Annotated[
        list[str], typer.Option(help="How a parameter is divided, as w=-,model; repeat for more.")
    ] = [],  # noqa: B006
    auto: Annotated[bool, typer.Option("--auto", help="Search the plan; --shard is kept.")] = False,
    memory: Annotated[str, typer.Option(help="With --auto: what a rank may hold, as 16GiB.")] = "",
    cluster: Annotated[Path | None, typer.Option(help="With --auto: rates and links of the ranks (TOML).")] = None,
    plan: Annotated[Path | None, typer.Option(help="A plan whose lines are kept; the rest is searched.")] = None,
    update: Annotated[
        list[str], typer.Option(help="With --auto: a parameter whose new value the function returns; repeat for more.")
    ] = [],  # noqa: B006
    stages: Annotated[int, typer.Option(min=0, help="With --auto: also cut the program into so many stages.")] = 0,
    micro: Annotated[int, typer.Option(min=1, help="With --stages: micro-batches of a step.")] = 8,
) -> None:
    """Print the states of each operator along each axis of a mesh, the bytes that a rank sends and holds, and why.

    \b
    mlc plan train.py:layer -i x=f32[8,512] -i w=f32[512,2048] --mesh model=4 --shard w=-,model
    mlc plan train.py:step -i … --mesh data=2,model=4 --auto --memory 16GiB > step.plan
    mlc plan train.py:step -i … --mesh data=2,model=4 --plan step.plan
    mlc plan model.onnx --mesh data=2,model=4 --auto
    """
    if auto or plan is not None:
        _search(function, specs_of_inputs(types, parse_dims(dim)) if is_function(function) else parse_dims(dim), mesh,
                shard, _settings(memory, cluster, plan, update), stages, micro)  # fmt: skip
        return
    from mlc.comm.distributed import Distributed
    from mlc.comm.pipeline import Pipeline

    if memory or cluster or stages:
        raise InputError("--memory, --cluster and --stages are of a search", hint="Add --auto")
    if not is_function(function):
        raise InputError(f"{function} is no function", hint="Name one, such as train.py:layer, or add --auto")
    found = jitted_named(function)
    if isinstance(found, Pipeline):
        print(found.plan())
        return
    if mesh or not isinstance(found, Distributed):
        found = _distributed(found, mesh, shard)
    elif shard:
        raise InputError("--shard was given without --mesh", hint="Give both, or neither: then those of mlc.jit hold")
    print(found.plan(**specs_of_inputs(types, parse_dims(dim))))


def _settings(memory: str, cluster: Path | None, plan: Path | None, update: list[str]) -> Auto:
    from mlc.planning import Auto
    from mlc.planning.cluster import bytes_of_text, read

    if plan is not None and not plan.is_file():
        raise InputError(f"The plan {plan} does not exist", hint="Write one by mlc plan … --auto > FILE")
    return Auto(bytes_of_text(memory) if memory else None, read(cluster) if cluster else None,
                given=plan.read_text() if plan else "", updates=tuple(update))  # fmt: skip


def _search(
    function: Path, given: Any, mesh: str, shard: list[str], auto: Auto, stages: int, micro: int
) -> None:  # fmt: skip
    from mlc.planning.layers import shown_stages
    from mlc.planning.traced import searched, searched_model
    from mlc.planning.written import written

    if not mesh:
        raise InputError("A search needs a mesh", hint="Give --mesh data=2,model=2")
    made = _mesh(mesh)
    if is_function(function):
        found = searched(_plain(jitted_named(function)), made, given, auto, dict(_sharding(each) for each in shard))
    elif shard:
        raise InputError(f"--shard is for functions, and {function} is a model", hint="Leave it out")
    else:
        found = searched_model(function, made, given, auto)
    print(written(found), end="")
    if stages:
        print(shown_stages(found, stages, micro))


def _mesh(text: str) -> Any:
    import mlc

    axes = dict(_pair(each) for each in text.split(","))
    return mlc.Mesh(**{name: int(size) if size.isdecimal() else 0 for name, size in axes.items()})


def _plain(f: Any) -> Any:
    from mlc.comm.distributed import Distributed

    return f.jitted.function if isinstance(f, Distributed) else getattr(f, "function", f)


def _distributed(f: Any, mesh: str, shard: list[str]) -> Any:
    import mlc

    if not mesh:
        raise InputError("The function has no mesh", hint="Give --mesh data=2,model=2, or mlc.jit(f, mesh=…)")
    return mlc.jit(_plain(f), mesh=_mesh(mesh), shardings=dict(_sharding(each) for each in shard))


def _sharding(text: str) -> tuple[str, Any]:
    name, spec = _pair(text)
    return name, _spec(spec)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"'{text}' is not NAME=VALUE", hint="Write --mesh data=2,model=2 and --shard w=-,model")
    return name, value


def _spec(text: str) -> Any:
    """``-,model`` as ``P(None, "model")``; ``data+model`` divides by both."""
    from mlc.comm.mesh import P

    return P(*(None if each == "-" else tuple(each.split("+")) for each in text.split(",") if each))
