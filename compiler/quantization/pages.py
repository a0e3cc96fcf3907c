"""The report of quantization as a page of HTML, without other files."""

from __future__ import annotations

from html import escape
from pathlib import Path

from mlc.errors import InputError
from mlc.nn.files import written_whole
from mlc.quantization.report import Report, rows, summary

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em }
table { border-collapse: collapse } td, th { padding: .2em .8em; border-bottom: 1px solid #8884; text-align: left }
td.number { text-align: right; font-variant-numeric: tabular-nums } tr.f32 { color: #888 }
"""
TEXT = ("layer", "operator", "form", "note")
SUFFIXES = (".html", ".json")


def check_form(path: Path) -> None:
    """InputError unless a report can be written as this kind of file."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"A report cannot be written as '{path}'", hint="Give a file that ends in .html or .json")


def write_report(report: Report, path: Path, title: str) -> None:
    """Write ``.html`` or ``.json``. OutputError where that fails."""
    check_form(path)
    text = report.json() if path.suffix == ".json" else page(report, title)
    written_whole(path, lambda file: file.write_text(text, "utf-8"))


def page(report: Report, title: str) -> str:
    """A page with the summary and a table of the layers."""
    made = rows(report)
    heads = "".join(f"<th>{escape(name)}</th>" for name in (made[0] if made else {}))
    lines = "\n".join(f'<tr class="{escape(row["form"])}">{_cells(row)}</tr>' for row in made)
    facts = "".join(f"<li>{escape(line)}</li>" for line in summary(report))
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>\n'
        f"<h1>{escape(title)}</h1>\n<ul>{facts}</ul>\n<table><thead><tr>{heads}</tr></thead>\n<tbody>{lines}</tbody>"
        "</table>\n</html>\n"
    )


def _cells(row: dict[str, str]) -> str:
    kinds = {name: "" if name in TEXT else ' class="number"' for name in row}
    return "".join(f"<td{kinds[name]}>{escape(cell)}</td>" for name, cell in row.items())
