"""The site of the documentation in a browser: style, search, dark mode, and no line that is cut off."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PAGES = ("/index.html", "/docs/reference/cli.html", "/docs/compiler/driver.html", "/docs/tensor-tour.html")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
MKDOCS = os.environ.get("MLC_MKDOCS") or shutil.which("mkdocs")
pytestmark = [
    pytest.mark.skipif(not BROWSER, reason="there is no chromium"),
    pytest.mark.skipif(not MKDOCS, reason="there is no mkdocs (pip install -e '.[docs]', or name one in $MLC_MKDOCS)"),
]


class Handler(SimpleHTTPRequestHandler):
    """Serves the site and the probe, and notes what is missing."""

    missing: list[str] = []
    results: Queue[dict[str, Any]] = Queue()

    def do_GET(self) -> None:
        if self.path.startswith("/probe.html"):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((Path(__file__).parent / "probe.html").read_bytes())
        else:
            super().do_GET()

    def do_POST(self) -> None:
        self.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def send_error(self, *args: Any, **named: Any) -> None:
        if not self.path.startswith("/favicon"):
            self.missing.append(self.path)
        super().send_error(*args, **named)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server of the site, which is built for it."""
    site = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "MLC_SITE": str(site), "NO_MKDOCS_2_WARNING": "1"}
    command = [str(MKDOCS), "build", "-f", "docs/mkdocs.yml", "--strict"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_site_in_a_browser(address: str, tmp_path: Path) -> None:
    query = "&".join([*(f"page={page}" for page in PAGES), "search=winograd"])
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--enable-logging=stderr"]
    command = [str(BROWSER), *flags, "--remote-debugging-port=0", f"{address}/probe.html?{query}"]
    with (tmp_path / "log").open("w+") as log:
        browser = subprocess.Popen(command, stdout=log, stderr=log, process_group=0)
        try:
            seen = Handler.results.get(timeout=180)
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
        log.seek(0)
        console = [line for line in log if "CONSOLE" in line and "http" in line]
    assert "failed" not in seen, seen
    assert len(seen["pages"]) == 2 * len(PAGES) and not Handler.missing
    for page, found in seen["pages"].items():
        assert (found["errors"], found["cut"], found["header"]) == ([], [], "sticky"), page
        assert brightness(found["light"]) > 200, page
    assert any("winograd" in title.lower() for title in seen["found"]) or len(seen["found"]) > 3
    assert brightness(seen["dark"]) < 80
    assert not [line for line in console if re.search("error|refused|failed", line, re.I)], console


def brightness(colour: str) -> float:
    """The mean of red, green and blue of ``rgb(…)``."""
    red, green, blue = map(float, re.findall(r"[\d.]+", colour)[:3])
    return (red + green + blue) / 3
