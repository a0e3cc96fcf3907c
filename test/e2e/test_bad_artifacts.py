"""Artifacts that are damaged or of another kind, and inputs that do not fit them: a short message; no traceback."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from refusals import Place, Refuses, save, wide_model

import mlc
from mlc.cli import main
from mlc.driver.artifact.write_artifact import write
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import find
from mlc.errors import ArtifactError

sys.path.insert(0, str(Path(__file__).parents[1] / "unit/compiler"))
import tiny  # noqa: E402

# ---- at run time


@pytest.fixture
def compiled(place: Place) -> Path:
    """A library with its weights beside it."""
    path = place.inputs / "m.so"
    mlc.compile(save(place, wide_model())).save(path)
    return path


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 511), np.float32),
        np.zeros((2, 2, 512), np.float32),
        np.zeros(512, np.float32),
        np.zeros((2, 512), np.float64),
        np.zeros((2, 512), np.int32),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_wrong_shapes_and_dtypes(place: Place, refuses: Refuses, compiled: Path, array: np.ndarray) -> None:
    np.save(place.inputs / "x.npy", array)
    refuses("run", compiled, "-i", f"x={place.inputs / 'x.npy'}", says=("'x'", "float32"), code=1)


def test_inputs_that_are_missing_unknown_or_unreadable(place: Place, refuses: Refuses, compiled: Path) -> None:
    np.save(place.inputs / "x.npy", np.zeros((2, 512), np.float32))
    np.save(place.inputs / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    (place.inputs / "text.npy").write_text("not an array")
    refuses("run", compiled, says=("x", "--random"))
    refuses("run", compiled, "-i", f"z={place.inputs / 'x.npy'}", says=("z", "Inputs: x"))
    for name in ("none.npy", "objects.npy", "text.npy"):
        refuses("run", compiled, "-i", f"x={place.inputs / name}", says=(name,))


def test_results_that_cannot_be_written(refuses: Refuses, compiled: Path) -> None:
    refuses("run", compiled, "--random", "0", "-o", "no/such/out.npz", says=("no/such",), code=1)


def test_weights_that_are_missing_damaged_or_of_another_model(place: Place, refuses: Refuses, compiled: Path) -> None:
    weights = compiled.with_suffix(".weights")
    whole = weights.read_bytes()
    for damaged in (whole[:-1], whole[:10], b"", b"X" + whole[1:], whole[:20] + b"\xff" * 8 + whole[28:]):
        weights.write_bytes(damaged)
        refuses("run", compiled, "--random", "0", says=("weights",))
    weights.unlink()
    refuses("run", compiled, "--random", "0", says=("weights",))


@pytest.mark.parametrize("command", ["run", "bench", "inspect"])
def test_artifacts_that_are_none(place: Place, refuses: Refuses, command: str) -> None:
    path = place.inputs / "m.so"
    for data in (b"", b"hello", b"\x7fELF" + b"\0" * 200, random.Random(1).randbytes(5000)):
        path.write_bytes(data)
        refuses(command, path, says=("m.so",))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_truncated_artifacts(place: Place, refuses: Refuses, compiled: Path, share: float) -> None:
    data = compiled.read_bytes()
    cut = place.inputs / "cut.so"
    cut.write_bytes(data[: int(share * len(data))])
    refuses("run", cut, "--random", "0", says=("cut.so",))


def handwritten(place: Place, replace: tuple[str, str] = ("", ""), isa: str = "") -> Path:
    """The handwritten model of the unit tests, changed."""
    options = mlc.Options()
    lowered = tiny.lowered(embedded=True, isa=isa)
    lowered.sources["model.c"] = lowered.sources["model.c"].replace(*replace)
    return write(lowered, place.inputs, options, find(None, options.target), Cache(None)).library


def test_an_artifact_of_another_version(place: Place, refuses: Refuses) -> None:
    library = handwritten(place, ('"mlc_runtime.h"', '"mlc_runtime.h"\n#undef MLC_ABI\n#define MLC_ABI 99'))
    refuses("run", library, "--random", "0", says=("99", "Compile the model again"))


def test_an_artifact_for_another_cpu(place: Place, refuses: Refuses) -> None:
    library = handwritten(place, isa="avx2048")
    refuses("run", library, "--random", "0", says=("avx2048",))
    with pytest.raises(SystemExit) as caught:
        main(["inspect", str(library)])
    assert not caught.value.code


@pytest.mark.parametrize(
    "name, start, says",
    [
        ("net.dll", b"MZ\x90", "is not a shared library of Linux but a program or library of Windows"),
        ("net.dylib", b"\xcf\xfa\xed\xfe", "is not a shared library of Linux but a program or library of macOS"),
        ("absent.dll", None, "does not exist"),
    ],
)
def test_a_library_of_another_system(tmp_path: Path, name: str, start: bytes | None, says: str) -> None:
    if start is not None:
        (tmp_path / name).write_bytes(start + bytes(300))
    with pytest.raises(ArtifactError, match=f"{says}. Artifacts are .so files, which run on Linux") as caught:
        mlc.load(tmp_path / name)
    assert "in WSL or a container: compile the model there" in str(caught.value)
