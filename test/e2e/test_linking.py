"""C programs that link models: names that clash with nothing, variants of one model, headers of another library."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mlc.cli import main

SEED = 20261123
RANDOM = np.random.default_rng(SEED)
WEIGHT = RANDOM.standard_normal((6, 5)).astype(np.float32)


def save(path: Path, scale: float = 1.0) -> Path:
    """y[batch, 5] = relu(x[batch, 6] W), ``scale`` times."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("Relu", ["xw"], ["y"])]
    graph = helper.make_graph(
        nodes, "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 5])],
        [helper.make_tensor("w", TensorProto.FLOAT, [6, 5], (scale * WEIGHT).tobytes(), raw=True)],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def expected(x: np.ndarray) -> np.ndarray:
    return np.maximum(x.astype(np.float64) @ WEIGHT.astype(np.float64), 0)


Compile = Callable[..., None]


@pytest.fixture
def mlc_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compile:
    """`mlc compile` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> None:
        with pytest.raises(SystemExit) as caught:
            main(["compile", *map(str, arguments)])
        assert not caught.value.code

    return run


def cc(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I.", *arguments, "-Wl,-rpath,$ORIGIN"]
    return subprocess.run(command, capture_output=True, text=True)


def call(prefix: str, batch: int) -> str:
    """C that reads x of so many rows from standard input, and writes y."""
    elements = f"{prefix}_OUTPUT_0_ELEMENTS"
    return f"""
  {{
    float x[{batch} * 6], y[{elements}];
    const void *in[] = {{x}};
    void *out[] = {{y}};
    {prefix}_model *model = {prefix}_create(NULL, 2);
    if (!model || fread(x, sizeof x, 1, stdin) != 1) return puts({prefix}_error()), 1;
    if ({prefix}_run(model, in, out, NULL, NULL)) return puts({prefix}_error()), 1;
    fwrite(y, sizeof y, 1, stdout);
    {prefix}_destroy(model);
  }}"""


def program(headers: list[str], *calls: str) -> str:
    includes = "\n".join(f'#include "{name}"' for name in ["stdio.h", *headers])
    return f"{includes}\nint main(void) {{{''.join(calls)}\n  return 0;\n}}\n"


def check(binary: str, *batches: int) -> None:
    print("seed", SEED)
    xs = [RANDOM.standard_normal((batch, 6)).astype(np.float32) for batch in batches]
    data = b"".join(x.tobytes() for x in xs)
    result = subprocess.run([binary], input=data, capture_output=True, check=True).stdout
    wanted = np.concatenate([expected(x) for x in xs])
    np.testing.assert_allclose(np.frombuffer(result, np.float32).reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["mlc_team", "_mlc", "mlc_model", "pthread", "sem", "1.0", "n" * 200, "größe"])
def test_any_name_links_and_runs(mlc_compile: Compile, name: str) -> None:
    mlc_compile(save(Path("net.onnx")), "--dim", "batch=3", "-o", f"{name}.so")
    prefix = re.findall(r"^void (\w+)_destroy\(", Path(f"{name}.h").read_text(), re.M)[0]
    Path("main.c").write_text("#include <pthread.h>\n" + program([f"{name}.h"], call(prefix, 3)))
    result = cc("main.c", f"./{name}.so", "-o", "main")
    assert result.returncode == 0, result.stderr
    check("./main", 3)


def test_the_name_of_the_package_is_a_prefix(mlc_compile: Compile) -> None:
    """No file: ``mlc.so`` would shadow the package."""
    mlc_compile(save(Path("net.onnx")), "--dim", "batch=3", "--name", "mlc", "-o", "net.so")
    Path("main.c").write_text(program(["net.h"], call("m_mlc", 3)))  # names that begin with mlc_ are the runtime's
    result = cc("main.c", "./net.so", "-o", "main")
    assert result.returncode == 0, result.stderr
    check("./main", 3)


def test_two_variants_in_one_program(mlc_compile: Compile) -> None:
    """Fixed batches of 1 and 8: the library's file names the symbols, and `--name` does."""
    model = save(Path("net.onnx"))
    mlc_compile(model, "--dim", "batch=1", "-o", "net_b1.so")
    mlc_compile(model, "--dim", "batch=8", "--name", "batched", "-o", "net_b8.so")
    Path("main.c").write_text(program(["net_b1.h", "net_b8.h"], call("net_b1", 1), call("batched", 8)))
    result = cc("main.c", "./net_b1.so", "./net_b8.so", "-o", "main")
    assert result.returncode == 0, result.stderr
    check("./main", 1, 8)


@pytest.fixture
def variants(mlc_compile: Compile) -> Path:
    """Batches of 1 and 8 under the same name, in two folders."""
    model = save(Path("net.onnx"))
    for batch in (1, 8):
        Path(f"b{batch}").mkdir()
        mlc_compile(model, "--dim", f"batch={batch}", "-o", f"b{batch}/net.so")
    return Path()


def test_the_header_of_another_variant_does_not_link(variants: Path) -> None:
    Path("main.c").write_text(program(["b1/net.h"], call("net", 1)))
    result = cc("main.c", "./b8/net.so", "-o", "main")
    assert result.returncode and "net_create_interface_" in result.stderr
    assert cc("main.c", "./b1/net.so", "-o", "main", "-Wl,-rpath,$ORIGIN/b1").returncode == 0
    check("./main", 1)


def test_two_variants_of_one_name_are_not_mixed(variants: Path) -> None:
    """One linker invocation would take every symbol of the first library."""
    Path("one.c").write_text('#include "b1/net.h"\nvoid *one(void) { return net_create(0, 1); }\n')
    uses = "void *one(void);\nint main(void) { return one() == net_create(0, 1); }\n"
    Path("main.c").write_text(f'#include "b8/net.h"\n{uses}')
    assert cc("one.c", "main.c", "./b1/net.so", "-o", "main").returncode
    Path("both.c").write_text('#include "b1/net.h"\n#include "b8/net.h"\nint main(void) { return 0; }\n')
    result = cc("both.c", "./b1/net.so", "./b8/net.so", "-o", "both")
    assert result.returncode and "net.h" in result.stderr


def test_new_weights_keep_the_interface(variants: Path, mlc_compile: Compile) -> None:
    """A library of the same interface may take the place of another: a retrained model, another target."""
    Path("main.c").write_text(program(["b1/net.h"], call("net", 1)))
    Path("new").mkdir()
    mlc_compile(save(Path("net.onnx"), scale=2), "--dim", "batch=1", "--target", "x86-64", "-o", "new/net.so")
    assert cc("main.c", "./new/net.so", "-o", "main").returncode == 0
    assert Path("new/net.h").read_bytes() == Path("b1/net.h").read_bytes()


def packaged(mlc_compile: Compile, stem: str, prefix: str) -> None:
    """A library with files for build systems, in a folder that has moved, and a program that calls it."""
    Path("made").mkdir()
    options = ["--dim", "batch=4", "--no-embed-weights", "--package"]
    mlc_compile(save(Path("net.onnx")), *options, "-o", f"made/{stem}.so")
    ends = [".h", ".pc", ".so", ".weights", "Config.cmake"]
    assert sorted(os.listdir("made")) == [f"{stem}{end}" for end in ends]
    Path("made").rename("moved there")
    Path("main.c").write_text(program([f"{stem}.h"], call(prefix, 4)))


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="needs pkg-config")
def test_flags_from_pkg_config(mlc_compile: Compile) -> None:
    packaged(mlc_compile, "net-v1", "net_v1")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(Path("moved there").resolve())}
    line = 'eval cc main.c -o main $(pkg-config --cflags --libs net-v1) "-Wl,-rpath,\'$PWD/moved there\'"'
    subprocess.run(["sh", "-c", line], check=True, env=environment)
    check("./main", 4)


@pytest.mark.skipif(not shutil.which("cmake"), reason="needs cmake")
def test_a_cmake_target(mlc_compile: Compile) -> None:
    packaged(mlc_compile, "net v1", "net_v1")
    Path("CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.13)
project(program C)
find_package("net v1" CONFIG REQUIRED PATHS "${CMAKE_SOURCE_DIR}/moved there" NO_DEFAULT_PATH)
add_executable(main main.c)
target_link_libraries(main mlc::net_v1)
message(STATUS "weights: ${net_v1_WEIGHTS}")
""")
    configured = subprocess.run(["cmake", "-B", "build"], check=True, capture_output=True, text=True).stdout
    assert "moved there/net v1.weights" in configured
    subprocess.run(["cmake", "--build", "build"], check=True, capture_output=True)
    check("build/main", 4)
