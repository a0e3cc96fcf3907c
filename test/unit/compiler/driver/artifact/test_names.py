"""Prefixes of C symbols that clash with nothing, and names that a C comment may hold."""

from __future__ import annotations

import ctypes.util
import re
from pathlib import Path

import pytest

from mlc.driver.artifact.names import c_prefix, comment_text
from mlc.runtime import elf

EXPORTED = ("abi_version", "signature", "create", "destroy", "workspace_size", "output_shape", "run", "profile", "seed",
            "error")  # fmt: skip


@pytest.mark.parametrize("name, prefix", [
    ("net", "net"), ("net.v2", "net_v2"), ("2net", "m_2net"), ("", "model"), ("日本", "model"), ("_", "model"),
    ("mlc", "m_mlc"), ("_mlc", "m_mlc"), ("mlc_team", "m_mlc_team"), ("mlcnet", "mlcnet"), ("MLC", "MLC"),
    ("pthread", "m_pthread"), ("pthread_mutex", "m_pthread_mutex"), ("sem", "m_sem"), ("semantic", "semantic"),
])  # fmt: skip
def test_prefixes(name: str, prefix: str) -> None:
    assert c_prefix(name) == prefix


def libraries() -> list[Path]:
    """The C library and the mathematical one, as this process has them."""
    return [Path(line.split()[-1]) for line in Path("/proc/self/maps").read_text().splitlines()
            if re.search(r"/lib[cm]\.so\.6$|/lib[cm]-[\d.]+so$", line) and "r-xp" in line]  # fmt: skip


@pytest.mark.skipif(not ctypes.util.find_library("c"), reason="no glibc")
def test_no_symbol_takes_the_place_of_one_of_the_c_library() -> None:
    symbols = set()
    for path in libraries():
        with elf.opened(path) as image:
            symbols |= set(elf.exported_functions(image))
    assert "pthread_create" in symbols and "sem_destroy" in symbols
    for symbol in symbols:
        for function in EXPORTED:
            if symbol.endswith(f"_{function}"):
                assert f"{c_prefix(symbol.removesuffix(f'_{function}'))}_{function}" not in symbols, symbol


def test_long_names_are_short_and_differ() -> None:
    first, second = c_prefix("n" * 250), c_prefix("n" * 251)
    assert first != second and max(map(len, (first, second))) <= 64 and first.isidentifier()
    assert c_prefix("n" * 64) == "n" * 64


@pytest.mark.parametrize("name, shown", [
    ("x", "x"), ("a/*b", "a/ *b"), ("a*/b", "a* /b"), ("/*/", "/ * /"), ("a\nb", "a\\u000ab"), ("größe 1", "größe 1"),
    ("x\u202ey", "x\\u202ey"), ("x\u2066y\u2069", "x\\u2066y\\u2069"), ("x\u200by", "x\\u200by"), ("\ud800", "\\ud800"),
    ("x" * 200, "x" * 117 + "..."), ("a\u2028b", "a\\u2028b"),
])  # fmt: skip
def test_names_in_comments(name: str, shown: str) -> None:
    assert comment_text(name) == shown
