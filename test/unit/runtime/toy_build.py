"""A tiny model written by hand and compiled by the system's C compiler, as the compiler would do it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mlc.driver.artifact.c_header import header
from mlc.driver.toolchain.c_sources import runtime_for
from mlc.runtime import c, weights

HERE = Path(__file__).parent
RUNTIME = [c.paths()[name] for name in runtime_for() if name.endswith(".c")]
BIAS = np.array([0.5, -1, 2, 4, -0.25, 8, 1, -2], np.float32)
SIGNATURE = {
    "abi": 2,
    "interface": "0a1b",
    "mlc": "0.1.0",
    "name": "toy",
    "target": "cpu",
    "isa": [],
    "dims": ["n"],
    "inputs": [
        {"name": "x", "dtype": "float32", "shape": ["n", 8]},
        {"name": "shift", "dtype": "float32", "shape": ["2*n"]},
    ],
    "outputs": [
        {"name": "y", "dtype": "float32", "shape": ["n"]},
        {"name": "total", "dtype": "float32", "shape": []},
    ],
    "kernels": [
        {"name": name, "symbol": f"k_{name}", "nodes": [name], "schedule": "", "flops": "16*n", "bytes": "4*n + 32"}
        for name in ("scale", "sum_reversed", "total")
    ],
    "weights": {"bytes": 96, "sha256": hashlib.sha256(BIAS.tobytes()).hexdigest(), "file": "toy.weights"},
    "arena": "32*n",
    "arena_bound": "32*n",
}


def compiler() -> str:
    """The C compiler of the tests; skips where there is none."""
    found = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")
    return found or pytest.skip("no C compiler on this machine")


def compile_c(output: Path, sources: list[Path], *flags: str) -> None:
    """Compiles C sources and the runtime; warnings are errors."""
    base = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-pthread", *c.include_flags(), f"-I{output.parent}"]
    command = [compiler(), *base, *flags, *map(str, sources), "-o", str(output), "-lm"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def kernel_features() -> set[str]:
    """The features Linux reports, in the spelling of GCC."""
    with open("/proc/cpuinfo") as file:
        flags = {word for line in file if line.startswith("flags") for word in line.split()}
    odd = {"bmi1": "bmi", "pni": "sse3"}
    return {odd.get(flag, flag.replace("sse4_", "sse4.").replace("_", "")) for flag in flags}


def write_toy_files(folder: Path, bias: np.ndarray = BIAS, signature: dict = SIGNATURE, isa: str = "") -> list[Path]:
    """Everything but the compiled library; the C sources."""
    digest = hashlib.sha256(bias.tobytes())
    (folder / "toy.weights").write_bytes(weights.header(bias.nbytes, digest.digest()) + bias.tobytes())
    defines = {
        "TOY_SIGNATURE": json.dumps(json.dumps(signature)),
        "TOY_SHA256": json.dumps(digest.hexdigest()),
        "TOY_ISA": json.dumps(isa),
        "TOY_BIAS": ", ".join(map(str, bias.tolist())),
        "TOY_BIAS_BYTES": '"' + "".join(f"\\{byte:03o}" for byte in bias.tobytes()) + '"',
    }
    text = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    (folder / "toy_signature.h").write_text(text)
    (folder / "toy.h").write_text(header("toy", signature))
    return [HERE / "toy_model.c", *RUNTIME]


def reference(x: np.ndarray, shift: np.ndarray, bias: np.ndarray = BIAS) -> tuple[np.ndarray, np.ndarray]:
    """The toy model in float64."""
    pairs = shift.astype(np.float64).reshape(-1, 2)
    t = x.astype(np.float64) * bias + (pairs[:, 0] - pairs[:, 1])[:, None]
    y = t.sum(axis=1)[::-1]
    return y, y.sum()


def assert_right(results: Sequence[np.ndarray], x: np.ndarray, shift: np.ndarray) -> None:
    """Compares the outputs with the reference."""
    y, total = reference(x, shift)
    np.testing.assert_allclose(results[0], y, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(results[1], total, rtol=1e-5, atol=1e-3)
    assert results[0].shape == y.shape and results[1].shape == ()


def arguments(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random inputs of the toy model."""
    random = np.random.default_rng([n, seed])
    return random.normal(size=(n, 8)).astype(np.float32), random.normal(size=2 * n).astype(np.float32)


@dataclass(frozen=True)
class Toy:
    """A built toy artifact."""

    folder: Path

    @property
    def library(self) -> Path:
        return self.folder / "toy.so"

    @property
    def weights(self) -> Path:
        return self.folder / "toy.weights"

    def copy(self, folder: Path) -> Toy:
        """A copy a test may damage."""
        return Toy(Path(shutil.copytree(self.folder, folder)))
