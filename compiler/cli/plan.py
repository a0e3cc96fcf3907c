"""mlc plan: how the ranks of a mesh divide a function or a model, what moves, and why; ``--auto`` searches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlc.cli.common import Dims, SourcePath, Types, parse_dims
from mlc.cli.functions import is_function, jitted_named, refuse_types, specs_of_inputs
from mlc.errors import InputError

if TYPE_CHECKING:
    from mlc.comm.mesh import Mesh
    from mlc.divided import DividedSource
    from mlc.planning import Auto


def command(
    function: SourcePath,
    types: Types = [],  # noqa: B006 - typer reads the default, nothing changes it
    dim: Dims = [],  # noqa: B006
    mesh: Annotated[str, typer.Option(help="The mesh, as data=2,model=2; that of mlc.jit otherwise.")] = "",
    shard: Annotated[
        list[str], typer.Option(help="How a parameter, or a tensor of a model, is divided, as w=-,model; repeat.")
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
    mlc plan model.onnx --mesh data=2,model=4 --shard up=-,model
    mlc plan model.onnx --mesh data=2,model=4 --auto > model.plan
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
        refuse_types(types)
        print(_of_model(function, mesh, shard, parse_dims(dim)))
        return
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
    from mlc.divided.parse import mesh_of, sharding_of
    from mlc.planning.layers import shown_stages
    from mlc.planning.traced import searched
    from mlc.planning.written import written

    if not mesh:
        raise InputError("A search needs a mesh", hint="Give --mesh data=2,model=2")
    made, fixed = mesh_of(mesh), dict(map(sharding_of, shard))
    if is_function(function):
        found = searched(_plain(jitted_named(function)), made, given, auto, fixed)
    else:
        found = _divided(function, made, replace(auto, fixed=fixed)).search(given, auto)
    print(written(found), end="")
    if stages:
        print(shown_stages(found, stages, micro))


def _of_model(model: Path, mesh: str, shard: list[str], dims: dict[str, int]) -> str:
    from mlc.api import make_options
    from mlc.divided.parse import mesh_of, sharding_of

    if not mesh:
        raise InputError("The model has no mesh", hint="Give --mesh data=2,model=2")
    return str(_divided(model, mesh_of(mesh), dict(map(sharding_of, shard))).plan(make_options(dims=dims)))


def _divided(model: Path, mesh: Mesh, shardings: Any) -> DividedSource:
    from mlc import divided

    return divided.of(model, mesh, shardings)


def _plain(f: Any) -> Any:
    from mlc.comm.distributed import Distributed

    return f.jitted.function if isinstance(f, Distributed) else getattr(f, "function", f)


def _distributed(f: Any, mesh: str, shard: list[str]) -> Any:
    import mlc
    from mlc.divided.parse import mesh_of, sharding_of

    if not mesh:
        raise InputError("The function has no mesh", hint="Give --mesh data=2,model=2, or mlc.jit(f, mesh=…)")
    return mlc.jit(_plain(f), mesh=mesh_of(mesh), shardings=dict(map(sharding_of, shard)))
