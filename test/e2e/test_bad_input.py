"""Every kind of bad input: a short message that says what, where and what to do; nothing half-written; no traceback."""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import mlc
from mlc import artifact
from mlc.cache import Cache
from mlc.cli import main
from mlc.toolchain import find

sys.path.insert(0, str(Path(__file__).parents[1] / "unit/compiler"))
import tiny  # noqa: E402

WIDE = np.random.default_rng(0).standard_normal((512, 1024)).astype(np.float32)  # 2 MB: not embedded


@dataclass
class Place:
    """A folder for inputs, an empty one to work in, and one for temporary files."""

    inputs: Path
    work: Path
    temporary: Path

    def untouched(self) -> bool:
        return not any(self.work.iterdir()) and not any(self.temporary.iterdir())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path / "inputs", tmp_path / "work", tmp_path / "temporary")
    for folder in (made.inputs, made.work, made.temporary):
        folder.mkdir()
    monkeypatch.chdir(made.work)
    monkeypatch.setattr(tempfile, "tempdir", str(made.temporary))
    monkeypatch.setenv("TMPDIR", str(made.temporary))
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("MLC_DEBUG", raising=False)
    monkeypatch.delenv("CC", raising=False)
    return made


Refuses = Callable[..., str]


@pytest.fixture
def refuses(place: Place, capsys: pytest.CaptureFixture[str]) -> Refuses:
    """Run the command line; it must fail as promised. Returns its message."""

    def run(*arguments: str | Path, says: tuple[str, ...] = (), code: int = 2) -> str:
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        error = capsys.readouterr().err
        check_message(error, says)
        assert caught.value.code == code, error
        assert place.untouched()
        return error

    return run


def check_message(error: str, says: tuple[str, ...]) -> None:
    assert error.startswith("mlc: error: "), error
    assert "Traceback" not in error and "internal" not in error
    assert len(error) < 1500
    for word in says:
        assert word in error


def add_model(
    *nodes: NodeProto, weights: tuple[TensorProto, ...] = (), opset: int = 17, shape: object = ("n", 4)
) -> ModelProto:
    """A model from x: float32[shape] to y."""
    nodes = nodes or (helper.make_node("Relu", ["x"], ["y"], name="act"),)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]  # type: ignore[arg-type]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", "columns"])]
    graph = helper.make_graph(list(nodes), "g", inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def wide_model() -> ModelProto:
    """y = x @ w with 2 MB of weights."""
    weights = numpy_helper.from_array(WIDE, "w")
    return add_model(helper.make_node("MatMul", ["x", "w"], ["y"], name="mm"), weights=(weights,), shape=("n", 512))


def save(place: Place, model: ModelProto, name: str = "m.onnx") -> Path:
    path = place.inputs / name
    path.write_bytes(model.SerializeToString())
    return path


def write(place: Place, data: bytes) -> Path:
    path = place.inputs / "m.onnx"
    path.write_bytes(data)
    return path


# ---- files that are no models


@pytest.mark.parametrize("command", ["compile", "run", "bench", "inspect"])
def test_no_such_file(place: Place, refuses: Refuses, command: str) -> None:
    refuses(command, place.inputs / "none.onnx", says=("none.onnx", "No such file"))


def test_a_folder(place: Place, refuses: Refuses) -> None:
    refuses("compile", place.inputs, says=("directory",))


def test_an_empty_file(place: Place, refuses: Refuses) -> None:
    refuses("compile", write(place, b""), says=("m.onnx", "empty"))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file(place: Place, refuses: Refuses, share: float) -> None:
    data = wide_model().SerializeToString()
    refuses("compile", write(place, data[: int(share * len(data))]), says=("m.onnx", "cut short"))


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes(place: Place, refuses: Refuses, seed: int) -> None:
    refuses("compile", write(place, random.Random(seed).randbytes(3000)), says=("m.onnx",))


def test_text(place: Place, refuses: Refuses) -> None:
    refuses("compile", write(place, b"hello, I am a model\n" * 50), says=("m.onnx", "ONNX"))


# ---- models with a mistake in them


def test_unknown_operators_are_all_listed(place: Place, refuses: Refuses) -> None:
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="first"),
        helper.make_node("Grumble", ["a"], ["y"], name="second"),
    ]
    refuses("compile", save(place, add_model(*nodes)), says=("Frobnicate", "Grumble", "first", "second"))


def test_unknown_operators_are_listed_by_check(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(place, add_model(helper.make_node("Frobnicate", ["x"], ["y"], name="first")))
    with pytest.raises(SystemExit) as caught:
        main(["check", str(path)])
    assert caught.value.code == 2
    assert "Frobnicate" in capsys.readouterr().out


@pytest.mark.parametrize("opset", [0, 999, -4])
def test_an_unknown_opset(place: Place, refuses: Refuses, opset: int) -> None:
    refuses("compile", save(place, add_model(opset=opset)), says=("opset",))


def test_wrong_types(place: Place, refuses: Refuses) -> None:
    integers = numpy_helper.from_array(np.arange(4), "w")
    node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    refuses("compile", save(place, add_model(node, weights=(integers,))), says=("sum", "Add"))


def test_shapes_that_do_not_fit(place: Place, refuses: Refuses) -> None:
    weights = numpy_helper.from_array(np.ones((5, 2), np.float32), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")
    refuses("compile", save(place, add_model(node, weights=(weights,))), says=("mm", "MatMul"))


def test_a_cycle(place: Place, refuses: Refuses) -> None:
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="one"), helper.make_node("Relu", ["a"], ["b"], name="two")]
    final = helper.make_node("Relu", ["b"], ["y"])
    refuses("compile", save(place, add_model(*nodes, final)), says=("cycle", "one"))


def test_a_missing_initializer(place: Place, refuses: Refuses) -> None:
    node = helper.make_node("Add", ["x", "gone"], ["y"], name="sum")
    refuses("compile", save(place, add_model(node)), says=("gone", "sum"))


def test_weights_of_the_wrong_length(place: Place, refuses: Refuses) -> None:
    for dims in ([4, 4], [3], [400, 400]):
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=b"\0" * 16)
        node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
        refuses("compile", save(place, add_model(node, weights=(tensor,))), says=("'w'",))


@pytest.mark.parametrize("dims", [[-4], [2, -1], [1 << 62, 1 << 62], [1 << 32, 1 << 32], [(1 << 63) - 1]])
def test_negative_absurd_and_overflowing_initializers(place: Place, refuses: Refuses, dims: list[int]) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=b"\0" * 16)
    node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    refuses("compile", save(place, add_model(node, weights=(tensor,))), says=("'w'",))


@pytest.mark.parametrize("shape", [(-4, 4), (1 << 40, 1 << 40), ((1 << 63) - 1,)])
def test_negative_absurd_and_overflowing_inputs(place: Place, refuses: Refuses, shape: tuple[int, ...]) -> None:
    refuses("compile", save(place, add_model(shape=shape)), says=("x",))


# ---- external data


def external(place: Place, location: str, **entries: str) -> Path:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    node = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    return save(place, add_model(node, weights=(tensor,)))


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "sub/../../secret", "link", "", "absent"])
def test_external_data_outside_the_folder_or_absent(place: Place, refuses: Refuses, location: str) -> None:
    (place.inputs.parent / "secret").write_bytes(b"\0" * 16)
    (place.inputs / "link").symlink_to(place.inputs.parent / "secret")
    refuses("compile", external(place, location), says=("'w'",))


@pytest.mark.parametrize(
    "entries", [{}, {"length": "12"}, {"offset": "8"}, {"offset": "-4"}, {"offset": str(1 << 63)}, {"length": "x"}]
)
def test_external_data_of_the_wrong_length(place: Place, refuses: Refuses, entries: dict[str, str]) -> None:
    (place.inputs / "w.bin").write_bytes(b"\0" * (15 if not entries else 16))
    refuses("compile", external(place, "w.bin", **entries), says=("'w'",))


# ---- options


@pytest.mark.parametrize("dim", ["n", "n=", "=4", "n=-1", "n=0", "n=x", "n=1.5", "m=3"])
def test_wrong_dimension_options(place: Place, refuses: Refuses, dim: str) -> None:
    refuses("compile", save(place, add_model()), "--dim", dim, says=(dim.partition("=")[0],))


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--target", "z80", "x86-64-v3"),
        ("--numerics", "sloppy", "strict"),
        ("--emit", "nonsense", "graph"),
        ("--schedule", "no-such-file", "no-such-file"),
    ],
)
def test_wrong_options(place: Place, refuses: Refuses, option: str, value: str, says: str) -> None:
    refuses("compile", save(place, add_model()), option, value, says=(value, says))


# ---- the machine


def test_an_output_folder_that_does_not_exist(place: Place, refuses: Refuses) -> None:
    refuses("compile", save(place, add_model()), "-o", "no/such/m.so", says=("no/such",), code=1)


def mlc_process(
    *arguments: str | Path, limit: int | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, where no file may grow beyond ``limit`` bytes."""

    def restrict() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-c", "from mlc.cli import main; main()", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, preexec_fn=restrict, timeout=300
    )


@pytest.mark.parametrize("warm", [True, False])
def test_a_full_disk(place: Place, warm: bool) -> None:
    """The limit on file sizes stands in for a disk that has no room for the weights."""
    path = save(place, wide_model())
    if warm:
        assert mlc_process("compile", path, "-o", place.inputs / "first.so").returncode == 0
    result = mlc_process("compile", path, limit=300_000)
    assert result.returncode == 1
    message = "\n".join(line for line in result.stderr.splitlines() if not line.startswith("mlc: warning"))
    check_message(message, ("File too large",) if warm else ())
    assert not any(place.work.iterdir())


def test_no_c_compiler(place: Place) -> None:
    empty = place.inputs / "bin"
    empty.mkdir()
    result = mlc_process("compile", save(place, add_model()), PATH=str(empty))
    assert result.returncode == 1
    check_message(result.stderr, ("no C compiler", "gcc", "mlc[cc]", "$CC"))
    assert place.untouched()


def test_a_c_compiler_that_fails(place: Place) -> None:
    script = place.inputs / "cc"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo fake 1 && exit\necho "m.c:1: error: broken" >&2\nexit 1\n'
    )
    script.chmod(0o755)
    result = mlc_process("compile", save(place, add_model()), CC=str(script))
    assert result.returncode == 1
    check_message(result.stderr, ("error: broken", "run.sh"))
    assert not any(place.work.iterdir())


def test_a_read_only_cache_only_warns(place: Place) -> None:
    locked = place.inputs / "locked"
    locked.mkdir(mode=0o555)
    cache = "/proc/self/mlc" if os.geteuid() == 0 else str(locked)  # no folder is read-only to root
    result = mlc_process("compile", save(place, add_model()), MLC_CACHE_DIR=cache)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("warning") == 1 and "Traceback" not in result.stderr
    assert sorted(p.name for p in place.work.iterdir()) == ["m.h", "m.so"]
    assert not any(place.temporary.iterdir())


def test_debug_shows_the_traceback(place: Place) -> None:
    result = mlc_process("compile", place.inputs / "none.onnx", "--debug")
    assert result.returncode == 1 and "Traceback" in result.stderr


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
    return artifact.write(lowered, place.inputs, options, find(None, options.target), Cache(None)).library


def test_an_artifact_of_another_version(place: Place, refuses: Refuses) -> None:
    library = handwritten(place, ('"mlc_runtime.h"', '"mlc_runtime.h"\n#undef MLC_ABI\n#define MLC_ABI 99'))
    refuses("run", library, "--random", "0", says=("99", "Compile the model again"))


def test_an_artifact_for_another_cpu(place: Place, refuses: Refuses) -> None:
    library = handwritten(place, isa="avx2048")
    refuses("run", library, "--random", "0", says=("avx2048",))
    with pytest.raises(SystemExit) as caught:
        main(["inspect", str(library)])
    assert not caught.value.code


def test_no_process_ends_by_a_signal_on_damaged_models(place: Place) -> None:
    """Models with random bytes changed either compile or are refused."""
    data = bytearray(wide_model().SerializeToString())
    generator = random.Random(5)
    for _ in range(30):
        damaged = bytearray(data)
        for _ in range(3):
            damaged[generator.randrange(200) if generator.random() < 0.8 else -generator.randrange(1, 200)] ^= (
                1 << generator.randrange(8)
            )
        problems = mlc.check(bytes(damaged))
        assert all(isinstance(problem, str) for problem in problems)
    shutil.rmtree(place.inputs)


def test_the_onnx_package_is_what_we_think() -> None:
    """The helpers above build valid models: what is refused is refused for its mistake."""
    onnx.checker.check_model(add_model())
    onnx.checker.check_model(wide_model())
