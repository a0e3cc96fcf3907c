"""mlc bench: the latency distribution of a model, and the time of each kernel."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mlc.cli.arrays import gather_inputs
from mlc.cli.common import (
    Dims,
    Inputs,
    NoTuned,
    Numerics,
    Seed,
    Target,
    Threads,
    open_model,
    parse_dims,
    refuse_for_artifact,
)
from mlc.errors import InputError, MlcError
from mlc.tools.latency import disturbance, latencies, percentiles, summary, throughput
from mlc.tools.progress import note
from mlc.tools.tables import console

if TYPE_CHECKING:
    from mlc.runtime import Model
    from mlc.tools.kernel_profile import Launch
    from mlc.tools.peer import Comparison

OptionalModel = Annotated[
    Path | None,
    typer.Argument(
        help="An ONNX model, a PyTorch program (.pt2), or an artifact (.so).", metavar="MODEL", show_default=False
    ),
]
Iterations = Annotated[int | None, typer.Option(min=1, help="Measure exactly so many runs; --seconds has no effect.")]
Streams = Annotated[int, typer.Option(min=0, help="Also measure runs per second with so many callers at a time.")]
Top = Annotated[int | None, typer.Option(min=1, help="With --profile: show only the N slowest launches.", metavar="N")]
Trace = Annotated[Path | None, typer.Option(help="Write a trace for Perfetto here (.json), a track for each thread.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
PeerName = Annotated[Literal["onnxruntime"] | None, typer.Option(help="Measure it too, and compare the outputs.")]


def command(
    context: typer.Context,
    model: OptionalModel = None,
    input: Inputs = [],  # noqa: B006 - typer reads the default, nothing changes it
    random: Seed = 0,
    threads: Threads = 0,
    dim: Dims = [],  # noqa: B006
    target: Target = "cpu",
    numerics: Numerics = "default",
    no_tuned: NoTuned = False,
    seconds: Annotated[float, typer.Option(min=0.0, help="How long to measure; at least 5 runs.")] = 3.0,
    iterations: Iterations = None,
    warmup: Annotated[int, typer.Option(min=0, help="Number of runs before the measurement.")] = 3,
    streams: Streams = 0,
    peer: PeerName = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Also print the time of each operator and each launch.")
    ] = False,
    top: Top = None,
    trace: Trace = None,
    as_json: AsJson = False,
    collectives: Annotated[
        bool, typer.Option("--collectives", help="Measure collectives between the ranks of a job, in place of a model.")
    ] = False,
) -> None:
    """Measure the latency of a model on random inputs (or those of -i).

    \b
    mlc bench model.onnx --threads 2
    mlc bench model.so --dim batch=8 --profile --top 10
    mlc bench model.onnx --peer onnxruntime
    mlc bench model.so --streams 4 --json
    mpiexec -n 2 mlc bench --collectives
    """
    if collectives:
        _collectives(model, as_json)
        return
    if model is None:
        raise InputError("No model was given", hint="Write mlc bench MODEL, or mlc bench --collectives")
    if top is not None and not profile:
        raise InputError("--top has no effect without --profile", hint="Add --profile, or leave out --top")
    refuse_for_artifact(context, model, "target", "numerics", "no_tuned", "peer")
    if trace and trace.suffix != ".json":
        raise InputError(f"A trace cannot be written as '{trace}'", hint="Give a file that ends in .json")
    net = open_model(model, threads, target=target, numerics=numerics, tuned=not no_tuned)
    inputs = gather_inputs(net, input, random, parse_dims(dim))
    for _ in range(warmup):
        net.run(inputs)
    times = latencies(net.run, inputs, seconds, iterations)
    launches = _launches(net, inputs) if profile else []
    found = {"streams": _throughput(net, inputs, threads, streams, seconds)} if streams else {}
    compared = _compare(net, model, threads, inputs, seconds, peer) if peer else None
    if trace:
        _write_trace(trace, net, inputs)
    if as_json:
        print(json.dumps(_record(net, inputs, times, launches, compared) | found, indent=1))
    else:
        _print(net, inputs, times, launches, compared, threads, top)
        for rate in found.values():
            print(f"{streams} callers at a time: {rate:.1f} runs/s")
    if compared and not compared.agrees:
        raise MlcError(f"Outputs differ from {peer}'s by {compared.error:.1e} of the largest value")


def _collectives(model: Path | None, as_json: bool) -> None:
    """Print the times of collectives, and the latency and bandwidth that fit them, on rank 0."""
    from mlc import comm
    from mlc.comm.link import Link, record, shown
    from mlc.comm.measure import measured

    if model is not None:
        raise InputError(f"--collectives measures no model, and '{model}' was given", hint="Leave one of them out")
    samples, ranks = measured(), comm.current().ranks
    link = Link.fit(samples)
    if comm.current().rank == 0:
        print(json.dumps(record(samples, link, ranks), indent=1) if as_json else shown(samples, link, ranks))


def load_seconds(net: Model) -> float:
    """The seconds that loading the artifact again takes."""
    from mlc.runtime import load

    start = time.perf_counter()
    load(net.path).close()
    return time.perf_counter() - start


def _launches(net: Model, inputs: dict[str, Any]) -> list[Launch]:
    from mlc.tools.kernel_profile import profile

    return profile(net, inputs)


def _throughput(net: Model, inputs: dict[str, Any], threads: int, streams: int, seconds: float) -> float:
    """Runs a second of ``streams`` callers; each has a model of its own on its share of the threads."""
    from mlc.driver.toolchain.c_compiler import allowed_cpus
    from mlc.runtime import load

    share = max(1, (threads or allowed_cpus()) // streams)
    return throughput([load(net.path, share).run for _ in range(streams)], inputs, seconds)


def _compare(net: Model, model: Path, threads: int, inputs: dict[str, Any], seconds: float, peer: str) -> Comparison:
    from mlc.driver.toolchain.c_compiler import allowed_cpus
    from mlc.tools.peer import PEERS, compare

    return compare(net.run, PEERS[peer](model, threads or allowed_cpus()), inputs, seconds)


def _write_trace(path: Path, net: Model, inputs: dict[str, Any]) -> None:
    from mlc.driver.artifact.output_files import write_bytes
    from mlc.tools.trace import trace

    write_bytes(path, trace(net, inputs).encode())


def _print(
    net: Model, inputs: dict[str, Any], times: list[float], launches: list[Launch], compared: Comparison | None,
    threads: int, top: int | None,
) -> None:  # fmt: skip
    shapes = ", ".join(f"{name} {array.dtype}{list(array.shape)}" for name, array in inputs.items())
    print(f"inputs: {shapes or 'none'}; loads in {1e3 * load_seconds(net):.1f} ms")
    print(f"{net.name}: {summary(times)}")
    if disturbed := disturbance(times):
        note(f"mlc: warning: {disturbed}")
    if compared:
        print(f"onnxruntime: {summary(compared.theirs)}")
        print(f"{net.name} is {compared.ratio:.2f} times as fast; largest difference {compared.error:.1e} of an output")
    if launches:
        from mlc.tools.kernel_profile import kernel_table, operator_table, totals
        from mlc.tools.peak import peak_of

        console().print(operator_table(launches))
        console().print(kernel_table(launches, peak_of(net.signature["target"], threads), top))
        print(totals(launches, percentiles(times)["min"]))


def _record(
    net: Model, inputs: dict[str, Any], times: list[float], launches: list[Launch], compared: Comparison | None
) -> dict[str, Any]:
    """The record that ``--json`` prints. Times are seconds."""
    from mlc.tools.kernel_profile import as_json

    shapes = {name: {"dtype": str(array.dtype), "shape": list(array.shape)} for name, array in inputs.items()}
    record = {"model": net.name, "inputs": shapes, "load": load_seconds(net), "runs": len(times)}
    record |= {"latency": percentiles(times)}
    if compared:
        record |= {"peer": {"latency": percentiles(compared.theirs), "ratio": compared.ratio, "error": compared.error}}
    return record | ({"launches": [as_json(launch) for launch in launches]} if launches else {})
