"""What a library says of itself before it runs: its checksum, its name, its signature and the digest of its weights."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from mlc.driver.artifact.artifact import Artifact
from mlc.driver.compile import compile_source
from mlc.driver.onnx_source import OnnxSource
from mlc.errors import ArtifactError
from mlc.options import Options
from mlc.runtime import elf, load, sealed

SEED = 20261123
X = np.random.default_rng(SEED).standard_normal((3, 40)).astype(np.float32)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Artifact]:
    """A product and an activation; weights inside the library, or beside."""
    onnx = pytest.importorskip("onnx")
    weight = np.random.default_rng(SEED + 1).standard_normal((40, 30)).astype(np.float32)
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Tanh", ["p"], ["y"])], "graph",
        [helper.make_tensor_value_info("x", kind, [3, 40])], [helper.make_tensor_value_info("y", kind, [3, 30])],
        [onnx.numpy_helper.from_array(weight, "w")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def built(embed: bool) -> Artifact:
        folder = tmp_path_factory.mktemp("sealed")
        source = OnnxSource.named("product", model.SerializeToString())
        made = compile_source(source, Options(embed_weights=embed), reuse=False).artifact
        made.install(folder / "product.so")
        return Artifact.find(folder)

    return built


@pytest.fixture(scope="module")
def embedded(build: Callable[[bool], Artifact]) -> Artifact:
    return build(True)


@pytest.fixture(scope="module")
def apart(build: Callable[[bool], Artifact]) -> Artifact:
    return build(False)


def loaded_bytes(path: Path) -> Iterator[int]:
    """Offsets of random bytes, one in each section that is loaded."""
    random = np.random.default_rng(SEED)
    with elf.opened(path) as image:
        for section in image.sections:
            if section.loaded and section.size:
                yield section.offset + int(random.integers(section.size))


def test_one_changed_bit_in_any_loaded_section_is_found(embedded: Artifact, tmp_path: Path) -> None:
    print("seed", SEED)
    whole = embedded.library.read_bytes()
    offsets = list(loaded_bytes(embedded.library))
    assert len(offsets) > 12
    for n, offset in enumerate(offsets):
        damaged = bytearray(whole)
        damaged[offset] ^= 1 << n % 8
        (tmp_path / "damaged.so").write_bytes(damaged)
        with pytest.raises(ArtifactError, match="damaged"):
            load(tmp_path / "damaged.so")
        with pytest.raises(ArtifactError, match="damaged"):
            sealed.read_signature(tmp_path / "damaged.so")


def test_one_changed_byte_of_the_headers_is_found(embedded: Artifact, tmp_path: Path) -> None:
    """The loader of the system follows them, and ends the process where they lead nowhere."""
    whole = embedded.library.read_bytes()
    segments = struct.unpack_from("<H", whole, 0x38)[0]
    for offset in range(4, 64 + 56 * segments):
        damaged = bytearray(whole)
        damaged[offset] ^= 0x41
        (tmp_path / "damaged.so").write_bytes(damaged)
        with pytest.raises(ArtifactError):
            load(tmp_path / "damaged.so")


def test_a_library_of_the_older_checksum_is_loaded(embedded: Artifact, tmp_path: Path) -> None:
    path = Path(shutil.copy(embedded.library, tmp_path / "older.so"))
    with elf.opened(path, write=True) as image:
        section = image.section(sealed.CHECKSUM)
        assert section is not None
        image.data[section.offset : section.offset + 8] = sealed._checksum(image, older=True)
    np.testing.assert_array_equal(load(path)(X), load(embedded.library)(X))


@pytest.mark.skipif(not shutil.which("strip"), reason="needs strip")
def test_a_stripped_library_is_intact(embedded: Artifact, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.so"
    subprocess.run(["strip", embedded.library, "-o", stripped], check=True)
    assert stripped.stat().st_size < embedded.library.stat().st_size
    np.testing.assert_array_equal(load(stripped)(X), load(embedded.library)(X))


def name_of(path: Path) -> str:
    with elf.opened(path) as image:
        place = elf.soname(image)
        assert place is not None
        return image.data[place[0] : place[0] + place[1]].rstrip(b"\0").decode()


def test_the_name_is_the_files(embedded: Artifact, tmp_path: Path) -> None:
    assert name_of(embedded.library) == "product.so"
    names = ["a.so", f"{'n' * 252}.so", "größe.so", "b.so"]
    path = embedded.library
    for name in names:
        load(path).save(tmp_path / name)
        path = tmp_path / name
        assert name_of(path) == name
    load(path).save(tmp_path / "product.so")
    assert (tmp_path / "product.so").read_bytes() == embedded.library.read_bytes()


@pytest.mark.skipif(not shutil.which("readelf"), reason="needs readelf")
def test_the_name_as_the_linker_sees_it(embedded: Artifact) -> None:
    text = subprocess.run(["readelf", "-d", embedded.library], check=True, capture_output=True, text=True).stdout
    assert "Library soname: [product.so]" in text


def test_the_signature_is_read_without_loading(embedded: Artifact, tmp_path: Path) -> None:
    foreign = bytearray(embedded.library.read_bytes())
    struct.pack_into("<H", foreign, 18, 183 if foreign[18] != 183 else 62)  # aarch64
    (tmp_path / "foreign.so").write_bytes(foreign)
    with pytest.raises(ArtifactError, match="was compiled for"):
        load(tmp_path / "foreign.so")
    assert sealed.read_signature(tmp_path / "foreign.so") == load(embedded.library).signature
    with pytest.raises(ArtifactError, match="not an mlc artifact"):
        sealed.read_signature(Path(np._core._multiarray_umath.__file__))


def test_weights_beside_the_library_are_verified_on_request(apart: Artifact, tmp_path: Path) -> None:
    load(apart.library, verify=True)
    for path in apart.files.values():
        shutil.copy(path, tmp_path)
    weights = tmp_path / "product.weights"
    content = bytearray(weights.read_bytes())
    content[200] ^= 1
    weights.write_bytes(content)
    load(tmp_path / "product.so")
    with pytest.raises(ArtifactError, match="contents do not match the digest in model"):
        load(tmp_path / "product.so", verify=True)


def test_large_embedded_weights_are_verified_on_request(
    embedded: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights over the limit are not part of the checksum."""
    monkeypatch.setattr(sealed, "CHECKED", 100)
    path = Path(shutil.copy(embedded.library, tmp_path))
    sealed.seal(path, path.name)
    load(path, verify=True)
    with elf.opened(path, write=True) as image:
        section = image.section(sealed.WEIGHTS)
        assert section is not None and section.size >= 40 * 30 * 4
        image.data[section.offset + 77] ^= 4
    load(path)
    with pytest.raises(ArtifactError, match="contents do not match the digest"):
        load(path, verify=True)
    monkeypatch.setenv("MLC_VERIFY_WEIGHTS", "1")
    with pytest.raises(ArtifactError, match="contents do not match the digest"):
        load(path)
