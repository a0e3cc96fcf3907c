"""mlc plan: how the ranks of a mesh divide a function, what moves, and why."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mlc.cli.common import Dims, SourcePath, Types, parse_dims
from mlc.cli.functions import is_function, jitted_named, specs_of_inputs
from mlc.errors import InputError


def command(
    function: SourcePath,
    types: Types = [],  # noqa: B006 - typer reads the default, nothing changes it
    dim: Dims = [],  # noqa: B006
    mesh: Annotated[str, typer.Option(help="The mesh, as data=2,model=2; that of mlc.jit otherwise.")] = "",
    shard: Annotated[
        list[str], typer.Option(help="How a parameter is divided, as w=-,model; repeat for more.")
    ] = [],  # noqa: B006
) -> None:
    """Print the states of each operator along each axis of a mesh, the bytes that a rank sends and holds, and why.

    \b
    mlc plan train.py:layer -i x=f32[8,512] -i w=f32[512,2048] --mesh model=4 --shard w=-,model
    """
    from mlc.comm.distributed import Distributed

    if not is_function(function):
        raise InputError(f"{function} is no function", hint="Name one, such as train.py:layer")
    found = jitted_named(function)
    if mesh or not isinstance(found, Distributed):
        found = _distributed(found, mesh, shard)
    elif shard:
        raise InputError("--shard was given without --mesh", hint="Give both, or neither: then those of mlc.jit hold")
    print(found.plan(**specs_of_inputs(types, parse_dims(dim))))


def _distributed(f: Any, mesh: str, shard: list[str]) -> Any:
    import mlc
    from mlc.comm.distributed import Distributed

    if not mesh:
        raise InputError("The function has no mesh", hint="Give --mesh data=2,model=2, or mlc.jit(f, mesh=…)")
    plain = f.jitted.function if isinstance(f, Distributed) else getattr(f, "function", f)
    axes = dict(_pair(each) for each in mesh.split(","))
    sizes = {name: int(size) if size.isdecimal() else 0 for name, size in axes.items()}
    shardings = {name: _spec(text) for name, text in map(_pair, shard)}
    return mlc.jit(plain, mesh=mlc.Mesh(**sizes), shardings=shardings)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"'{text}' is not NAME=VALUE", hint="Write --mesh data=2,model=2 and --shard w=-,model")
    return name, value


def _spec(text: str) -> Any:
    """``-,model`` as ``P(None, "model")``; ``data+model`` divides by both."""
    from mlc.comm.mesh import P

    return P(*(None if each == "-" else tuple(each.split("+")) for each in text.split(",") if each))
