"""Whole models against onnxruntime: small members of every family, static and symbolic, and light models.

With their own weights, light models are in test/conformance.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from seeds import drawn

import mlc
from benchmarks import models
from benchmarks.correctness import compare
from benchmarks.engines import onnxruntime
from benchmarks.models import light, random_inputs, small

THREADS = 2
BATCHES = (1, 3, 17)
TOO_LARGE = {"light_bvlc_alexnet", "light_vgg19", "light_zfnet512"}  # 0.2–0.6 GB of weights if they are random


@pytest.fixture(scope="module", autouse=True)
def fresh_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing compiled before is used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def check(path: Path, *sizes: dict[str, int]) -> None:
    """Compile a file once and compare it at each size of its symbolic dimensions."""
    proto, seed = onnx.load(path), secrets.randbits(32)
    net, reference = mlc.compile(path, threads=THREADS), onnxruntime(path, THREADS)
    for dims in sizes:
        inputs = random_inputs(proto, seed, dims)
        for row in compare(path.stem, "default", dims, net.run(inputs), reference(inputs)):
            assert row.passed, f"seed {seed}: {row}"


def write(folder: Path, name: str, batch: int | str) -> Path:
    """The file of a small model."""
    path = folder / f"{name}.onnx"
    onnx.save(models.build(name, batch=batch, **small.OPTIONS[name]), path)
    return path


@pytest.mark.parametrize(("name", "batch"), [(n, b) for n in models.FAMILIES for b in drawn([1, 3], 1, n)])
def test_static(name: str, batch: int, tmp_path: Path) -> None:
    """One of two sizes, which is drawn (``--whole``: both)."""
    check(write(tmp_path, name, batch), {})


@pytest.mark.parametrize("name", models.FAMILIES)
def test_symbolic_batch(name: str, tmp_path: Path) -> None:
    check(write(tmp_path, name, "batch"), *({"batch": batch} for batch in BATCHES))


@pytest.mark.parametrize("name", drawn(sorted(set(light.names()) - TOO_LARGE), 2, "light"))
def test_light_with_random_weights(name: str, tmp_path: Path) -> None:
    """Two of them, which are drawn (``--whole``: all)."""
    path = tmp_path / f"{name}.onnx"
    onnx.save(light.load(name, secrets.randbits(32)), path)
    check(path, {})
