"""The C sources of the runtime, which become part of every artifact.

``core`` runs the host program (threads, phases, weights); ``vector`` has the vector types and mathematics of kernels,
``library`` the non-affine operators, ``strings``, ``image`` and ``comm`` what a host program calls; ``mpi`` is for the
program that loads a model with collectives. File names are unique: a
build puts all files into one folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@cache
def paths() -> Mapping[str, Path]:
    """Returns a map from file name to path of every C source, header and template of the runtime."""
    return {f.name: f for f in sorted(FOLDER.rglob("*")) if f.suffix in (".c", ".h", ".in")}


def include_flags() -> list[str]:
    """Returns the C compiler's flags to find the headers."""
    return [f"-I{folder}" for folder in sorted({path.parent for path in paths().values()})]
