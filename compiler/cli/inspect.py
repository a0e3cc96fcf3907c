"""mlc inspect: show what a model or an artifact contains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from mlc.cli.common import Dims, ModelPath, NoTuned, Numerics, Target, Threads, names_text, parse_dims
from mlc.cli.functions import refuse_function
from mlc.expressions import shown_names
from mlc.tools.kernel_profile import schedule_of
from mlc.tools.tables import console, table

WIDEST = 16  # characters of an expression that a table shows


def command(
    model: ModelPath,
    target: Target = "cpu",
    dim: Dims = [],  # noqa: B006 - typer reads the default, nothing changes it
    numerics: Numerics = "default",
    threads: Threads = 0,
    no_tuned: NoTuned = False,
    as_json: bool = typer.Option(False, "--json", help="Print the artifact's signature as JSON."),
    schedules: bool = typer.Option(
        False, "--schedules", help="Print only the schedules, for 'mlc compile --schedule'."
    ),
) -> None:
    """Show the inputs, outputs, operators, weights, kernels and memory of a model (compiled first) or an artifact.

    \b
    mlc inspect model.onnx
    mlc inspect model.so --json
    mlc inspect model.onnx --schedules > model.schedules
    """
    dims = parse_dims(dim)
    refuse_function(model)
    if model.suffix == ".so":
        signature = _read(model)
    else:
        signature = _compiled(model, target, threads, dims, numerics, not no_tuned)
    if as_json:
        print(json.dumps(signature, indent=1))
        return
    if schedules:
        nests = [kernel for kernel in signature["kernels"] if "loop" not in kernel]
        print(*dict.fromkeys(f"{kernel['name']}: {schedule_of(kernel)}" for kernel in nests), sep="\n")
        return
    if model.suffix != ".so":
        print(f"operators  {_operators(model)}")
    _show(signature)


def _read(library: Path) -> dict[str, Any]:
    """The signature of an artifact; of one for a GPU with what the CUDA compiler has decided about each kernel."""
    from mlc.driver.artifact.cubins import embedded_cubins
    from mlc.runtime.sealed import read_signature
    from mlc.tools.cubin import resources

    signature = read_signature(library)
    found = resources(image.code for image in embedded_cubins(library))
    used = {symbol: each._asdict() for symbol, each in found.items()}
    return {**signature, "kernels": [{**kernel, **used.get(kernel["symbol"], {})} for kernel in signature["kernels"]]}


def _compiled(
    model: Path, target: str, threads: int, dims: dict[str, int], numerics: str, tuned: bool
) -> dict[str, Any]:
    """The signature of a model's artifact, which may be in a temporary folder."""
    from mlc.api import make_options
    from mlc.driver.compile import compile_source
    from mlc.driver.sources import source_of
    from mlc.tools.progress import Progress

    with Progress() as progress:
        options = make_options(target, threads, dims, numerics, tuned=tuned)  # type: ignore[arg-type]
        artifact = compile_source(source_of(model), options, [progress]).artifact
    return _read(artifact.library)


def _operators(model: Path) -> str:
    """``Conv 53, Relu 49, ...`` of the model as written."""
    from mlc.driver.sources import source_of

    return ", ".join(f"{name} {count}" for name, count in source_of(model).operators().most_common())


def _show(signature: dict[str, Any]) -> None:
    from mlc.runtime.signature import sizes_text

    print(f"model      {signature['name']}  (mlc {signature['mlc']}, ABI {signature['abi']})")
    print(f"target     {signature['target']}  {' '.join(signature['isa'])}")
    print(f"dimensions {', '.join(_with_axes(signature, dim) for dim in signature['dims']) or 'none'}")
    for guard in signature.get("guards", ()):
        where = f"  ({guard['node']})" if "node" in guard else ""
        print(f"guard      {guard.get('message', guard['expr'])}{where}")
    for kind in ("inputs", "outputs"):
        for tensor in signature[kind]:
            shape = shown_names(sizes_text(tensor["shape"], tensor.get("optional", ())))
            print(f"{kind[:-1]:10} {tensor['name']}  {tensor['dtype']}[{shape}]")
    if fixed := signature.get("fixed"):
        print(f"fixed      {names_text(fixed)}  (inputs of the model that have a value)")
    weights = signature["weights"]
    place = weights["file"] or "inside the library"
    print(f"weights    {weights['bytes']:,} bytes  {place}  sha256 {weights['sha256'][:12]}")
    at = shown_names(", ".join(f"{name}={size}" for name, size in signature.get("arena_at", {}).items()))
    arena, bound = (int(signature[name]) for name in ("arena", "arena_bound"))
    print(f"arena      {arena:,} bytes{f' at {at}' if at else ''}  (live at once: {bound:,} bytes)")
    for loop in signature.get("loops", ()):
        print(f"loop       {', '.join(loop['nodes'])}: in the host program, as {loop['why']}")
    console().print(_kernels(signature))


def _with_axes(signature: dict[str, Any], dim: str) -> str:
    """A dimension, followed by the axes of inputs that have it: ``batch (x:0, y:0)``."""
    axes = [f"{x['name']}:{n}" for x in signature["inputs"] for n, size in enumerate(x["shape"]) if size == dim]
    return f"{shown_names(dim)} ({', '.join(axes)})" if axes else shown_names(dim)


def _kernels(signature: dict[str, Any]) -> Any:
    """A row a distinct kernel: how often it is launched, its schedule, the nodes it computes."""
    launches: dict[str, list[dict[str, Any]]] = {}
    for kernel in signature["kernels"]:
        launches.setdefault(kernel["symbol"], []).append(kernel)
    title = f"{len(launches)} kernels, {len(signature['kernels'])} launches"
    gpu = [">blocks", ">threads", ">registers", ">shared"] if signature["target"].startswith("cuda") else []
    rows = table(title, "kernel", ">launches", *gpu, "schedule", "nodes")
    for group in launches.values():
        nodes = [node for kernel in group for node in kernel["nodes"]]
        more = f" +{len(nodes) - 4}" if len(nodes) > 4 else ""
        cells = _of_gpu(group[0]) if gpu else []
        rows.add_row(group[0]["name"], str(len(group)), *cells, schedule_of(group[0]), ", ".join(nodes[:4]) + more)
    return rows


def _of_gpu(kernel: dict[str, Any]) -> list[str]:
    """Blocks of a launch, threads of a block, registers of a thread, and the block's bytes of shared memory."""
    grid = kernel["grid"] if len(kernel["grid"]) <= WIDEST else "symbolic"
    return [grid, str(kernel["threads"]), str(kernel.get("registers", "?")), str(kernel["shared"])]
