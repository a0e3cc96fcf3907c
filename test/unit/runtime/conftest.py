"""The toy model, built once a session."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from toy_build import Toy, compile_c, write_toy_files


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Toy]:
    """Builds a variant of the toy model."""

    def build_variant(*flags: str, **changes: object) -> Toy:
        folder = tmp_path_factory.mktemp("toy")
        sources = write_toy_files(folder, **changes)
        compile_c(folder / "toy.so", sources, "-O2", "-fPIC", "-shared", "-fvisibility=hidden", *flags)
        return Toy(folder)

    return build_variant


@pytest.fixture(scope="session")
def toy(build: Callable[..., Toy]) -> Toy:
    """The toy model; read only."""
    return build()
