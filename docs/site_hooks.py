"""What mkdocs calls while it builds the site (``hooks`` in mkdocs.yml): adds the pages of public modules.

They are made by docs/api_pages.py in an environment that has mlc: this one, or that of the checkout (.venv).
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
made: dict[str, str] = {}


def on_config(config: MkDocsConfig) -> None:
    """Make the pages, and add them to the navigation after the reference."""
    command = [str(_python()), str(ROOT / "docs/api_pages.py")]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode:
        raise PluginError(f"docs/api_pages.py failed:\n{answer.stderr}")
    made.update(json.loads(answer.stdout))
    entries: list[Any] = [{Path(path).stem: path} for path in made]
    assert config.nav is not None
    reference = next(section["Reference"] for section in config.nav if "Reference" in section)
    reference.append({"Modules": entries})


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def _python() -> Path:
    """A Python that has mlc."""
    own = ROOT / ".venv/bin/python"
    if find_spec("mlc") is None and not own.exists():
        raise PluginError("The pages of modules need mlc: pip install -e '.[docs]', or a .venv in the checkout")
    return Path(sys.executable) if find_spec("mlc") else own
