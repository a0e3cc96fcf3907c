"""mlc cache: what the compile cache holds, and making it smaller."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlc.cli.common import Dims, Numerics, OnnxPath, Target, parse_dims
from mlc.tables import console, table

app = typer.Typer(
    help="Show or shrink the compile cache ($MLC_CACHE_DIR, else ~/.cache/mlc).",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def show() -> None:
    """List the cached artifacts, used last first, and the size of the cache."""
    from datetime import datetime

    from mlc.cache import Cache

    cache = Cache.default()
    entries = sorted(cache.entries(), key=lambda entry: -entry.used)
    rows = table("Compiled models", "model", "target", ">MB", "last used", "key")
    for entry in (entry for entry in entries if entry.kind == "artifacts"):
        used = f"{datetime.fromtimestamp(entry.used):%Y-%m-%d %H:%M}"
        about = entry.about
        rows.add_row(about["name"], about["options"]["target"]["name"], _mb(entry.bytes), used, entry.path.name[:12])
    console().print(rows)
    print(f"{len(entries)} entries, {_mb(sum(entry.bytes for entry in entries))} MB in {cache.root}")


@app.command()
def clear() -> None:
    """Remove everything."""
    from mlc.cache import Cache

    print(f"{_mb(Cache.default().clear())} MB removed")


@app.command()
def prune(
    limit: Annotated[int, typer.Option(min=0, help="MB to keep: those used last.")] = 10240,
) -> None:
    """Remove the entries used longest ago until the cache fits a limit."""
    from mlc.cache import Cache

    print(f"{_mb(Cache.default().prune(limit << 20))} MB removed")


@app.command()
def why(
    model: OnnxPath,
    target: Target = "cpu",
    dim: Dims = [],  # noqa: B006 - typer reads the default, nothing changes it
    numerics: Numerics = "default",
) -> None:
    """Say whether a model would come from the cache, and if not, what differs from the last artifact."""
    from mlc.api import make_options
    from mlc.build import explain
    from mlc.identity import Source

    options = make_options(target, dims=parse_dims(dim), numerics=numerics)  # type: ignore[arg-type]
    print("\n".join(explain(Source.of(Path(model)), options)))


def _mb(size: int) -> str:
    return f"{size / (1 << 20):.1f}"
