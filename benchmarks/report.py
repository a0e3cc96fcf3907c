"""Write the page of results from measurements: `python -m benchmarks.report FILE.json... -o docs/benchmarks.md`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Annotated, Any

import typer

from benchmarks import results, tables
from benchmarks.engines import ENGINES
from benchmarks.limits import HERE
from benchmarks.results import Comparison, Result

TEMPLATE = Path(__file__).with_name("report.md.in")
OPERATORS = Template("""
## Single operators

Models of one operator, with constant weights; their names are their sizes. Bursts of $timing.

$table
""")
LIMITED = Template("""
## Compiled for $target

For CPUs with fewer instructions, on the same machine: `python -m benchmarks.compare --target $target`. $note Bursts of
$timing.

$table
""")
OTHERS = Template("""
## Beside other peers

In a run of its own, with its own times of mlc. Bursts of $timing.

$peers

$table
""")
WORDS = {1: "one thread", 2: "two threads"}


def page(comparison: Comparison, plot: str = "", also: Sequence[Comparison] = ()) -> str:
    """The text of the page; `plot` is the address of a roofline, as the page sees it, `also` what was measured for
    another target or beside other peers."""
    models, operators = tables.models(comparison), tables.operators(comparison)
    peers, cpus = tables.present(models, comparison.setup.peers), len(comparison.setup.cpus)
    parts = {name: getattr(tables, name)(models, peers).markdown() for name in ("latency", "compiling", "memory")}
    parts["means"] = tables.means({"models": models, **families(operators)}, comparison.setup.peers).markdown()
    return Template(TEMPLATE.read_text()).substitute(
        parts, threads=WORDS.get(cpus, f"{cpus} threads"), timing=_timing(models), peers=_peers(comparison),
        machine=_machine(comparison.machine), bits=comparison.machine["vector_bits"],
        plot=f"\n![roofline]({plot})\n" if plot else "", operators=_operators(comparison),
        also="".join(map(_also, also)),
        failures=_failures(comparison),
    )  # fmt: skip


def _timing(found: Sequence[Result]) -> str:
    """Seconds and rounds of some results, each number once."""
    lengths = dict.fromkeys(f"{result.burst:g}" for result in found)
    counts = dict.fromkeys(str(result.latency.count) for result in found)
    return f"{' or '.join(lengths)} s, for {' or '.join(counts)} rounds"


def families(operators: Sequence[Result]) -> dict[str, list[Result]]:
    """Operators by the first word of their names, `op_gemm_…`."""
    grouped = groupby(sorted(operators, key=_family), _family)
    return {f"`{family}`": list(members) for family, members in grouped}


def _family(result: Result) -> str:
    return "_".join(result.model.split("_")[:2])


def _peers(comparison: Comparison) -> str:
    """A line a peer: how it is called, as its function says it."""
    about = {peer: inspect.getdoc(ENGINES[peer]) or "" for peer in comparison.setup.peers}
    return "\n".join(f"- {tables.name_of(peer)}: {text.splitlines()[0]}" for peer, text in about.items())


def _machine(machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    rows = [
        ["date", machine["date"]], ["revision", machine["revision"]],
        ["CPU", f"{machine['cpus']} of {machine['cpu']}, vectors of {machine['vector_bits']} bits"],
        ["peak, measured", f"{machine['flops'] / 1e9:.0f} GFLOP/s, {machine['bandwidth'] / 1e9:.1f} GB/s read"],
        ["system", machine["system"]], ["compiler", machine["compiler"]],
        ["versions", f"Python {machine['python']}, {versions}"],
    ]  # fmt: skip
    return tables.Table("", ["", ""], rows).markdown()


def _operators(comparison: Comparison) -> str:
    operators = tables.operators(comparison)
    if not operators:
        return ""
    table = tables.latency(operators, tables.present(operators, comparison.setup.peers))
    return OPERATORS.substitute(table=table.markdown(), timing=_timing(operators))


def _also(comparison: Comparison) -> str:
    peers = tables.present(comparison.results, comparison.setup.peers)
    table, timing = tables.latency(comparison.results, peers).markdown(), _timing(comparison.results)
    if comparison.setup.target == HERE:
        return OTHERS.substitute(table=table, timing=timing, peers=_peers(comparison))
    note, target = tables.note(comparison.setup), comparison.setup.target
    return LIMITED.substitute(table=table, timing=timing, note=note, target=target)


def _failures(comparison: Comparison) -> str:
    table = tables.failures(comparison)
    text = table.markdown() if table.rows else "Nothing: all engines ran what they were given."
    return f"\n## Not measured\n\n{text}\n"


def main(
    files: Annotated[list[Path], typer.Argument(exists=True, help="JSON of benchmarks.compare, one page of all.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    plot: Annotated[Path | None, typer.Option(help="A picture of benchmarks.roofline to show.")] = None,
    also: Annotated[list[Path] | None, typer.Option(help="JSON of another run, a section: --target, --peer.")] = None,
) -> None:
    """Write the page of measured results."""
    try:
        comparison, others = results.load(files), [results.load([file]) for file in also or ()]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    address = os.path.relpath(plot, output.parent) if plot else ""
    output.write_text(page(comparison, address, others).rstrip() + "\n")


if __name__ == "__main__":
    typer.run(main)
