"""Models in other forms than a shared library: archives, objects and folders of C sources, linked into programs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import mlc
from mlc.cli import main

SEED = int(np.random.default_rng().integers(1 << 32))
RANDOM = np.random.default_rng(SEED)
WEIGHT = RANDOM.standard_normal((6, 5)).astype(np.float32)
ZIG = f"{sys.executable} -m ziglang cc"
COMPILERS = [pytest.param("gcc", marks=pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")),
             pytest.param(ZIG, id="zig", marks=pytest.mark.skipif(not find_spec("ziglang"), reason="needs ziglang"))]
LINK = ["-pthread", "-lm", "-ldl"]


def save(path: str, last: str, batch: int) -> str:
    """y[batch, 5] = last(x[batch, 6] W); all models share the kernel of the product."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [batch, s]) for n, s in (("x", 6), ("y", 5)))
    weight = helper.make_tensor("w", TensorProto.FLOAT, [6, 5], WEIGHT.tobytes(), raw=True)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node(last, ["xw"], ["y"])]
    graph = helper.make_graph(nodes, "graph", [x], [y], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["compile", *map(str, arguments)])
    return int(caught.value.code or 0)


def call(prefix: str, weights: str = "NULL") -> str:
    """C that reads x from standard input, and writes y."""
    return f"""
  {{
    static float x[{prefix}_INPUT_0_ELEMENTS], y[{prefix}_OUTPUT_0_ELEMENTS];
    {prefix}_model *model = {prefix}_create({weights}, 2);
    if (!model || fread(x, sizeof x, 1, stdin) != 1) return puts({prefix}_error()), 1;
    if ({prefix}_run(model, (const void *[]){{x}}, (void *[]){{y}}, NULL, NULL)) return puts({prefix}_error()), 1;
    fwrite(y, sizeof y, 1, stdout);
    {prefix}_destroy(model);
  }}"""


def link(compiler: str, prefixes: Sequence[str], *files: str, out: str = "main") -> None:
    includes = "".join(f'#include "{prefix}.h"\n' for prefix in prefixes)
    calls = "".join(map(call, prefixes))
    Path("main.c").write_text(f"#include <stdio.h>\n{includes}int main(void) {{{calls}\n  return 0;\n}}\n")
    subprocess.run([*shlex.split(compiler), "-std=c11", "main.c", "-I.", *files, "-o", out, *LINK], check=True)


def check(program: Sequence[str], models: Sequence[str], **options: object) -> None:
    """A program's results are those of onnxruntime."""
    print("seed", SEED)
    sessions = [onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]) for path in models]
    xs = [RANDOM.standard_normal(s.get_inputs()[0].shape).astype(np.float32) for s in sessions]
    wanted = np.concatenate([s.run(None, {"x": x})[0].ravel() for s, x in zip(sessions, xs, strict=True)])
    data = b"".join(x.tobytes() for x in xs)
    done = subprocess.run(program, input=data, capture_output=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout
    np.testing.assert_allclose(np.frombuffer(done.stdout, np.float32), wanted, rtol=1e-5, atol=1e-5)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def global_names(file: str) -> list[str]:
    """The global symbols that an object or an archive defines."""
    listed = subprocess.run(["nm", "-g", "--defined-only", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^[0-9a-f]+ \w (\S+)$", listed, re.M)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("suffix", [".a", ".o"])
def test_two_models_in_one_program(compiler: str, suffix: str) -> None:
    """They share the text of a kernel, and all of the runtime."""
    for name, last, batch in (("net", "Relu", 3), ("net_mlc", "Tanh", 2)):
        assert command(save(f"{name}.onnx", last, batch), "--cc", compiler, "-o", f"{name}{suffix}") == 0
        assert sorted(os.listdir()) == sorted({*os.listdir(), f"{name}.h", f"{name}{suffix}"})
    link(compiler, ["net"], f"net{suffix}", out="one")
    check(["./one"], ["net.onnx"])
    link(compiler, ["net", "net_mlc"], f"net{suffix}", f"net_mlc{suffix}")
    check(["./main"], ["net.onnx", "net_mlc.onnx"])


def test_what_is_hidden_has_the_prefix() -> None:
    assert command(save("net.onnx", "Relu", 3), "-o", "net.a") == 0
    names = global_names("net.a")
    assert "net_run" in names and "mlc_run_of_net" in names
    assert not [name for name in names if not name.startswith("net_") and not name.endswith("_of_net")]


def test_every_function_of_the_runtime_is_renamed() -> None:
    """The sources are searched for definitions; a model with strings has the units that others lack."""
    nodes = [helper.make_node("StringConcat", ["x", "x"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, TensorProto.STRING, ["n"]) for name in "xy")
    graph = helper.make_graph(nodes, "graph", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), "words.onnx")
    assert command("words.onnx", "-o", "words.a") == 0
    names = global_names("words.a")
    assert "mlc_string_concat_of_words" in names and all("words" in name for name in names)


def test_the_weights_beside_the_program() -> None:
    """However it is started: by its path, by a link, or by its name in $PATH."""
    assert command(save("net.onnx", "Relu", 3), "-o", "made-here.a", "--no-embed-weights") == 0
    assert sorted(os.listdir()) == ["made-here.a", "made-here.h", "made_here.weights", "net.onnx"]
    Path("made-here.h").rename("made_here.h")
    Path("bin").mkdir()
    link("cc", ["made_here"], "made-here.a", out="bin/prog")
    assert subprocess.run(["bin/prog"], capture_output=True).returncode
    Path("made_here.weights").rename("bin/made_here.weights")
    Path("link").symlink_to("bin/prog")
    for program in ("bin/prog", "./link"):
        check([program], ["net.onnx"])
    path = f"{Path('bin').resolve()}:{os.environ['PATH']}"
    check(["sh", "-c", "prog"], ["net.onnx"], env={**os.environ, "PATH": path})
    Path("bin/made_here.weights").rename("bin/prog.weights")
    check(["bin/prog"], ["net.onnx"])


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_folder_of_sources_compiles_by_itself(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made without a C compiler, compiled in another place: as an archive, and as a library that Python loads."""
    model = save("net.onnx", "Relu", 3)
    monkeypatch.setenv("CC", "no-such-compiler")
    for _ in range(2):  # the second takes the place of the first
        assert command(model, "-o", "net.c", "--no-embed-weights", "--target", "x86-64-v3") == 0
    monkeypatch.delenv("CC")
    shutil.move("net.c", "moved")
    tools = {"gcc": ("gcc", "ar")}.get(compiler, (compiler, compiler[:-2] + "ar"))
    made = subprocess.run(["make", "-j2", "-C", "moved", f"CC={tools[0]}", f"AR={tools[1]}"], capture_output=True,
                          text=True)  # fmt: skip
    assert made.returncode == 0 and "warning" not in made.stderr, made.stderr
    shutil.copy("moved/net.h", ".")
    link(compiler, ["net"], "moved/net.a", out="moved/main")
    check(["moved/main"], [model])
    x = RANDOM.standard_normal((3, 6)).astype(np.float32)
    wanted = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    np.testing.assert_allclose(mlc.load("moved/net.so")(x), wanted, rtol=1e-5, atol=1e-5)


def test_c_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    model = save("net.onnx", "Relu", 3)
    assert command(model, "-o", "-") == 0
    text = capsys.readouterr().out
    assert command(model, "--emit", "code") == 0 and capsys.readouterr().out == text
    assert "// ---- model.c" in text and "mlc_program net_program" in text and os.listdir() == ["net.onnx"]


@pytest.mark.parametrize("output, says", [
    ("net.dll", "a file of another system"), ("net", "its suffix does not say"), ("net.gz", "is not a folder, and its"),
    ("taken.c", "is not a folder that mlc wrote"), ("file.c", "is not a folder that mlc wrote"),
    ("no/such/net.a", "Create the folder"), ("no/such/net.c", "Create the folder"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused(output: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = save("net.onnx", "Relu", 3)
    Path("taken.c").mkdir()
    Path("taken.c/notes").touch()
    Path("file.c").write_text("int x;")
    before = sorted(Path().rglob("*"))
    assert command(model, "-o", output) in (1, 2)
    assert says in capsys.readouterr().err
    assert sorted(Path().rglob("*")) == before and Path("file.c").read_text() == "int x;"


@pytest.mark.parametrize("output", ["net.c", "-"])
@pytest.mark.parametrize("option", [["--package"], ["--cc", "gcc"], ["--sanitize", "address"]])
def test_options_without_effect_are_refused(output: str, option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(save("net.onnx", "Relu", 3), "-o", output, *option) == 2
    assert f"{option[0]} has no effect on C sources" in capsys.readouterr().err


def test_a_loaded_model_is_saved_as_a_shared_library_alone() -> None:
    with pytest.raises(mlc.ArtifactError, match=r"mlc compile MODEL.onnx -o net.a"):
        mlc.compile(save("net.onnx", "Relu", 3)).save("net.a")
    assert os.listdir() == ["net.onnx"]


@pytest.mark.parametrize("suffix", [".a", ".o"])
def test_flags_from_pkg_config_and_a_cmake_target(suffix: str) -> None:
    if not shutil.which("pkg-config") or not shutil.which("cmake"):
        pytest.skip("needs pkg-config and cmake")
    model = save("net.onnx", "Relu", 3)
    Path("made").mkdir()
    assert command(model, "-o", f"made/net{suffix}", "--package", "--no-embed-weights") == 0
    Path("made").rename("moved there")
    calls = call("net", '"moved there/net.weights"')
    Path("main.c").write_text(f'#include <stdio.h>\n#include "net.h"\nint main(void) {{{calls}\n return 0; }}\n')
    environment = {**os.environ, "PKG_CONFIG_PATH": str(Path("moved there").resolve())}
    line = "eval cc main.c -o main $(pkg-config --cflags --libs net)"
    subprocess.run(["sh", "-c", line], check=True, env=environment)
    check(["./main"], [model])
    Path("CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.13)
project(program C)
find_package(net CONFIG REQUIRED PATHS "${CMAKE_SOURCE_DIR}/moved there" NO_DEFAULT_PATH)
add_executable(main main.c)
target_link_libraries(main mlc::net)
message(STATUS "weights: ${net_WEIGHTS}")
""")
    configured = subprocess.run(["cmake", "-B", "build"], check=True, capture_output=True, text=True).stdout
    assert "moved there/net.weights" in configured
    subprocess.run(["cmake", "--build", "build"], check=True, capture_output=True)
    check(["build/main"], [model])
