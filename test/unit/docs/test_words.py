"""The words that ``docs/glossary.md`` bans stand nowhere in the project."""

import re
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GLOSSARY = ROOT / "docs" / "glossary.md"
TITLE = "## Words not to use"
SUFFIXES = ("*.py", "*.md", "*.md.in", "*.c", "*.h", "*.h.in", "*.mlir", "*.toml")
EXEMPT = {"CHANGELOG.md"}  # names what was renamed


def banned() -> list[tuple[str, str]]:
    """Each banned word with the term to use."""
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", GLOSSARY.read_text().partition(TITLE)[2], re.M)
    return [(word, term) for words, term in rows for word in re.findall("`([^`]+)`", words)]


def pattern(word: str) -> re.Pattern[str]:
    """``urn`` is in ``mlc_urn`` and ``Urn``, and not in ``return``; a word with a capital letter is an identifier."""
    spaced = re.escape(word).replace(r"\ ", r"\s+")
    before, after = (r"(?<![A-Za-z])" if word[0].isalpha() else "", r"(?![A-Za-z])" if word[-1].isalpha() else "")
    return re.compile(f"{before}{spaced}{after}", 0 if word != word.lower() else re.I)


def files() -> Iterator[tuple[str, str]]:
    """Path and text of every file of the project, the list itself left out."""
    names = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *SUFFIXES]
    listed = subprocess.run(names, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in sorted(set(filter(None, listed.split("\0"))) - EXEMPT):
        path = ROOT / name
        if path.exists():
            yield name, path.read_text().partition(TITLE)[0] if path == GLOSSARY else path.read_text()


@lru_cache(maxsize=1)
def lowered(text: str) -> str:
    return text.lower()


def uses(word: str, text: str) -> list[int]:
    """The lines of ``text`` in which ``word`` begins."""
    if word.split()[0].lower() not in lowered(text):  # most are nowhere, and a search for a substring is fast
        return []
    return [text.count("\n", 0, found.start()) + 1 for found in pattern(word).finditer(text)]


def test_no_banned_words() -> None:
    words = banned()
    found = [f"{name}:{line}: '{word}': {term}" for name, text in files() for word, term in words
             for line in uses(word, text)]
    assert not found, "\n".join([f"{len(found)} words that docs/glossary.md bans, with the term to use:", *found])


def test_the_list_has_each_word_once() -> None:
    words = [word for word, _ in banned()]
    assert words and len(words) == len(set(words))


@pytest.mark.parametrize("word, text, lines", [
    ("urn", "return\nmlc_urn(x)\nUrn left, urns", [2, 3]),
    ("two words", "there are two\nwords here", [1]),
    ("NAME", "names\nname\nNAME = ()", [3]),
    (".name", "a name\nx.name(1)", [2]),
])
def test_matches_whole_words(word: str, text: str, lines: list[int]) -> None:
    assert uses(word, text) == lines
