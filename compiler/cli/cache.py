"""mlc cache: show, explain and shrink the compile cache."""

from __future__ import annotations

from typing import Annotated

import typer

from mlc.cli.common import Dims, NoTuned, Numerics, SourcePath, Target, Threads, Types, parse_dims
from mlc.cli.functions import source_named
from mlc.tools.tables import console, table

app = typer.Typer(
    help="Show or shrink the compile cache ($MLC_CACHE_DIR, else ~/.cache/mlc).",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def show() -> None:
    """List the cached artifacts, used last first, and the size of the cache."""
    from datetime import datetime

    from mlc.driver.cache.disk_cache import Cache
    from mlc.tuning.store import Store

    cache = Cache.default()
    entries = sorted(cache.entries(), key=lambda entry: -entry.used)
    rows = table("Compiled models", "model", "target", ">MB", "last used", "key")
    artifacts = [entry for entry in entries if entry.kind == "artifacts"]
    for entry in artifacts:
        used = f"{datetime.fromtimestamp(entry.used):%Y-%m-%d %H:%M}"
        options = entry.about["options"]
        name = options.get("name") or entry.about["name"]
        rows.add_row(name, options["target"]["name"], _mb(entry.bytes), used, entry.path.name[:12])
    if artifacts:
        console().print(rows)
    size = _mb(sum(entry.bytes for entry in entries))
    kernels = sum(entry.kind == "kernels" for entry in entries)
    others = f"{kernels} kernels, {len(entries) - len(artifacts) - kernels} objects of the C compiler and other parts"
    where = f"{size} MB in {cache.root}" if cache.root else "there is no cache, see MLC_CACHE_DIR"
    print(f"{len(artifacts)} compiled models, {others}: {where}")
    count = sum(len(kernels) for _, kernels in Store.default().machines())
    print(*[f"{count} tuned schedules: mlc cache tuned"] * bool(count))


@app.command()
def tuned() -> None:
    """List the schedules that 'mlc tune' has found, with the machines and options for which they are valid."""
    from mlc.driver.cache.source_digest import of_sources
    from mlc.tuning.store import Store

    rows = table("Tuned schedules", "kernel", "model", ">saved", ">threads", "CPU", "C compiler", "mlc", "schedule")
    for machine, kernels in Store.default().machines():
        version = "this" if machine["mlc"] == of_sources() else "another"
        about = str(machine["threads"]), machine["cpu"], machine["compiler"], version
        for digest, found in kernels.items():
            rows.add_row(digest[:12], found.model, f"{found.gain:.1%}", *about, found.schedule)
    console().print(rows)


@app.command()
def clear(
    tuned: Annotated[bool, typer.Option("--tuned", help="Remove the tuned schedules, and nothing else.")] = False,
) -> None:
    """Remove everything that was compiled; tuned schedules stay."""
    from mlc.driver.cache.disk_cache import Cache
    from mlc.tuning.store import Store

    if tuned:
        print(f"{Store.default().clear()} tuned schedules removed")
        return
    print(f"{_mb(Cache.default().clear())} MB removed")


@app.command()
def prune(
    limit: Annotated[int, typer.Option(min=0, help="MB to keep: those used last.")] = 10240,
) -> None:
    """Remove the entries used longest ago until the cache fits a limit."""
    from mlc.driver.cache.disk_cache import Cache

    print(f"{_mb(Cache.default().prune(limit << 20))} MB removed")


@app.command()
def why(
    model: SourcePath,
    target: Target = "cpu",
    types: Types = [],  # noqa: B006 - typer reads the default, nothing changes it
    dim: Dims = [],  # noqa: B006
    numerics: Numerics = "default",
    threads: Threads = 0,
    no_tuned: NoTuned = False,
) -> None:
    """Say whether a model would come from the cache, and if not, what differs from the last artifact."""
    from mlc.api import make_options
    from mlc.driver.cache.explain import explain

    source, dims = source_named(model, types, parse_dims(dim))
    options = make_options(target, threads, dims, numerics, tuned=not no_tuned)
    print("\n".join(explain(source, options)))


def _mb(size: int) -> str:
    return f"{size / (1 << 20):.1f}"
