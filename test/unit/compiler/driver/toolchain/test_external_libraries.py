"""External libraries: only models with ImageDecoder link them, and an error names the packages of a missing one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import image_libraries
import pytest
from onnx import TensorProto, helper

import mlc
from mlc import target as targets
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import find
from mlc.driver.toolchain.c_sources import runtime_for
from mlc.driver.toolchain.external_libraries import LIBRARIES, external_flags
from mlc.driver.toolchain.link import link_library
from mlc.errors import ToolchainError

CPU = targets.get("cpu")
FOREIGN = targets.get("aarch64" if CPU.arch == "x86_64" else "x86-64")


def model(op: str) -> object:
    node = helper.make_node(op, ["x"], ["y"])
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [5])
    graph = helper.make_graph([node], "net", [x], [helper.make_tensor_value_info("y", TensorProto.UINT8, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def libraries_of(library: Path) -> set[str]:
    """The shared libraries that a library names, without versions."""
    if shutil.which("readelf") is None:
        pytest.skip("no readelf on this machine")
    lines = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split("[")[1].split(".so")[0] for line in lines if "(NEEDED)" in line}


def pkg_config(folder: Path, absent: str) -> str:
    """A program that stands in for pkg-config where one module is missing."""
    program = folder / "pkg-config"
    program.write_text(f"#!/bin/sh\ncase \"$*\" in *{absent}*) exit 1;; esac\necho 1.0\n")
    program.chmod(0o755)
    return str(program)


def test_a_model_without_images_needs_libc_alone() -> None:
    of_libc = {"libc", "libm", "libdl", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}
    assert libraries_of(Path(mlc.compile(model("Identity")).path)) <= of_libc


@image_libraries.needed
def test_a_model_with_images_links_their_libraries() -> None:
    found = libraries_of(Path(mlc.compile(model("ImageDecoder")).path))
    assert {"libjpeg", "libwebp", "libtiff", "libopenjp2"} <= found
    assert any(name.startswith("libpng") for name in found)


def test_only_the_functions_that_a_model_calls_are_compiled() -> None:
    plain = {name for name in runtime_for() if name.endswith(".c")}
    assert not any("image" in name or "string" in name for name in plain)
    strings = {name for name in runtime_for(["string"]) if name.endswith(".c")}
    assert strings - plain == {"mlc_string.c", "mlc_strings.c", "mlc_tokens.c"}
    assert {"mlc_image.c", "mlc_image_jpeg.c"} <= set(runtime_for(["image"]))


@pytest.mark.parametrize("library", LIBRARIES["image"], ids=lambda library: library.module)
def test_a_missing_library_is_named(library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKG_CONFIG", pkg_config(tmp_path, library.module))
    with pytest.raises(ToolchainError, match=f"calls {library.name} .pkg-config module '{library.module}'") as caught:
        link_library({"a.c": "int a;\n"}, tmp_path / "a.so", CPU, find(None, CPU), Cache(None), ["image"])
    hint = caught.value.hint or ""
    assert all(package in hint for package in (library.debian, library.fedora, library.homebrew))
    assert not (tmp_path / "a.so").exists()


def test_without_pkg_config_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PKG_CONFIG", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ToolchainError, match="There is no pkg-config, .* Install pkg-config .Debian"):
        external_flags(["image"], CPU)
    with pytest.raises(ToolchainError, match=f"There is no {FOREIGN.arch}-linux-gnu-pkg-config"):
        external_flags(["image"], FOREIGN)
    assert not external_flags(["string"], CPU).link


def test_the_key_of_an_artifact_has_the_versions_of_its_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlc.driver.cache.cache_key import Needs, key_of
    from mlc.driver.onnx_source import OnnxSource
    from mlc.options import Options

    monkeypatch.setenv("PKG_CONFIG", pkg_config(tmp_path, "nothing"))
    source, options = OnnxSource.of(b"model"), Options()
    keys = [key_of(source, Needs((), families), options, find(None, CPU)) for families in ((), ("image",))]
    assert [set(key.parts["libraries"].values()) for key in keys] == [set(), {"1.0"}]
    assert keys[0].digest != keys[1].digest
