"""Pages show what the commands on them print today, and name what exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
import update  # noqa: E402

PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md"),
                *(ROOT / "examples").glob("*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
FILE = re.compile(r"`((?:\.\./)*[a-z]\w*/[\w/.-]*)`")
EXEMPT = {"CHANGELOG.md"}  # names files that were renamed


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """The anchors of a page's titles, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [page for page in update.pages() if page not in update.SESSIONS], ids=name)
def test_outputs_are_those_of_today(page: Path) -> None:
    assert update.updated(page) == page.read_text(), f"{name(page)} is stale: run python docs/update.py"


def test_every_stage_shows_its_input_and_output() -> None:
    for stage in ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan", "codegen"):
        text = (DOCS / "compiler" / f"{stage}.md").read_text()
        emitted = re.findall(r"^\$ mlc compile net.onnx --emit (\w+)", text, re.M)
        assert emitted[-1] == {"codegen": "code"}.get(stage, stage) and len(emitted) == 2, stage


def test_the_map_is_short() -> None:
    assert len((DOCS / "design.md").read_text().splitlines()) <= 250


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text()):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name(page)}: {path}"
        assert not anchor or anchor in anchors(target), f"{name(page)}: {path}#{anchor}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in EXEMPT], ids=name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    named = {path for path in FILE.findall(page.read_text()) if path.split("/")[0] in folders}
    made = "howto" in page.parts  # they name files to make, in folders that there are
    missing = sorted(path for path in named if not (ROOT / path if not made else (ROOT / path).parent).exists())
    assert not missing, f"{name(page)} names {missing}"


def test_every_page_is_linked() -> None:
    linked = {(page.parent / path).resolve() for page in PAGES for path, _ in LINK.findall(page.read_text()) if path}
    assert not {name(page) for page in DOCS.rglob("*.md") if page not in linked}


def test_the_site_lists_every_page() -> None:
    """`mkdocs build --strict`, which .ci/run calls, finds broken links too."""
    listed = re.findall(r": (\S+\.md)$", (DOCS / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(map(name, PAGES))


def test_update_writes_the_output_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n```console\n$ mlc --help | head -1\nold\nlines\n```\nb\n```console\n$ ls\nx\n```\n")
    monkeypatch.setattr(update, "_call", lambda call: f"output of {call}\nsecond\n")
    assert update.updated(page) == (
        "a\n```console\n$ mlc --help | head -1\noutput of mlc --help\n```\nb\n```console\n$ ls\nx\n```\n"
    )


def test_a_stale_page_fails_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ mlc --help\nold\n```\n")
    monkeypatch.setattr(update, "DOCS", tmp_path)
    monkeypatch.setattr(update, "_call", lambda call: "new\n")
    monkeypatch.setattr(update.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0))
    assert update.main(["--check"]) == 1 and "old" in page.read_text()
    assert update.main([]) == 0 and "new" in page.read_text()
    assert update.main(["--check"]) == 0
