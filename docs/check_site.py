"""Checks a built site: each style sheet, script, picture, page and anchor that a page refers to is there.

python docs/check_site.py /tmp/mlc-site

``mkdocs --strict`` checks the links of the sources; this checks what a browser loads.
Exit status 1 where one is missing.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class References(HTMLParser):
    """What a page loads and links to, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.update(value for key in ("id", "name") if (value := given.get(key)))
        address = given.get("href") or given.get("src")
        if address and not urlsplit(address).scheme and not address.startswith("//"):
            self.found.append(address)
            if tag in ("script", "img") or "stylesheet" in (given.get("rel") or ""):
                self.loaded.append(address)


def main(site: Path) -> int:
    """Print what is missing, and how much was checked. 1 where something is missing, or a page has no style."""
    pages = {path: References() for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        page.feed(path.read_text())
    missing = [line for path, page in pages.items() for line in problems(site, path, page, pages)]
    print(*missing, f"{len(pages)} pages, {len(missing)} problems", sep="\n")
    return int(bool(missing) or not pages)


def problems(site: Path, path: Path, page: References, pages: dict[Path, References]) -> list[str]:
    """What a page refers to in vain."""
    name, found = path.relative_to(site), []
    for address in page.found:
        parts = urlsplit(address)
        target = site if parts.path.startswith("/") else path.parent
        target = (target / unquote(parts.path.lstrip("/"))).resolve() if parts.path else path
        if not target.exists():
            found.append(f"{name}: {address} is not there")
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
            found.append(f"{name}: {address} has no such anchor")
    for kind in (".css", ".js"):
        if not any(urlsplit(address).path.endswith(kind) for address in page.loaded):
            found.append(f"{name} loads no {kind} file")
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
