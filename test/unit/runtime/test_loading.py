"""Loading and saving artifacts, and every way in which their files can be unfit."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import struct

import numpy as np
import pytest
from toy_build import BIAS, SIGNATURE, arguments, compile_c, reference

from mlc.runtime import ArtifactError, load, weights


def assert_runs(path, bias=BIAS):
    x, shift = arguments(7)
    with load(path, 2) as net:
        np.testing.assert_allclose(net(x, shift)[0], reference(x, shift, bias)[0], rtol=1e-5, atol=1e-4)


def assert_refused(path, message):
    with pytest.raises(ArtifactError, match=message) as caught:
        load(path)
    assert "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_missing_and_foreign_files(tmp_path):
    assert_refused(tmp_path / "none.so", "does not exist")
    assert_refused(tmp_path, "is not a file")
    assert_refused("nul\0nul", "cannot be read")
    assert_refused(None, "None is no path")
    for name, content, message in [
        ("empty.so", b"", "empty, truncated or damaged"),
        ("text.so", b"hello" * 100, "not a shared library"),
        ("random.so", np.random.default_rng(5).bytes(5000), "not a shared library"),
        ("stub.so", b"\x7fELF", "not a 64-bit"),
        ("header.so", b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, 62), "truncated|compiled for"),
    ]:
        (tmp_path / name).write_bytes(content)
        assert_refused(tmp_path / name, message)


def test_other_shared_libraries(tmp_path):
    assert_refused(np._core._multiarray_umath.__file__, "not an mlc artifact")
    source = tmp_path / "stub.c"
    for code, message in [
        ("int a_abi_version(void) { return 99; }", "ABI version 99, this mlc reads version 2"),
        ("int a_abi_version(void) { return 2; }", "lacks the function a_signature"),
    ]:
        source.write_text(code)
        compile_c(tmp_path / "stub.so", [source], "-shared", "-fPIC")
        assert_refused(tmp_path / "stub.so", message)
        os.unlink(tmp_path / "stub.so")


def test_truncated_library(toy, tmp_path):
    whole = toy.library.read_bytes()
    for size in [1, 17, 63, 64, 200, 4096, len(whole) // 2, len(whole) - 1]:
        (tmp_path / "cut.so").write_bytes(whole[:size])
        assert_refused(tmp_path / "cut.so", "truncated|not a")


def test_damaged_headers_never_crash(toy, tmp_path):
    """The ELF reader sees random headers; whatever passes it is not loaded here."""
    from mlc.runtime import elf, sealed

    whole = toy.library.read_bytes()
    random = np.random.default_rng(11)
    path = tmp_path / "damaged.so"
    for _ in range(200):
        damaged = bytearray(whole)
        for position in random.integers(16, 64, size=3):
            damaged[position] = random.integers(256)
        path.write_bytes(damaged)
        with contextlib.suppress(ArtifactError), elf.opened(path) as image:
            assert isinstance(elf.exported_functions(image), list)
            assert elf.soname(image) is None
            sealed.check(image)


def test_other_architecture(toy, tmp_path):
    library = bytearray(toy.library.read_bytes())
    struct.pack_into("<H", library, 18, 8)  # MIPS
    (tmp_path / "mips.so").write_bytes(library)
    assert_refused(tmp_path / "mips.so", "compiled for ELF machine 8, but this machine is")


def test_other_cpu(build):
    assert_refused(build(isa="sse2 avx512er").library, "lacks the feature 'avx512er'.*needs: sse2 avx512er")


def test_unfit_weights(toy, tmp_path):
    good = toy.weights.read_bytes()
    payload = good[64:]
    other = hashlib.sha256(b"other").digest()
    for number, (content, message) in enumerate(
        [
            (None, "cannot open the weights of model 'toy'.*No such file"),
            (b"", "have 0 bytes, model 'toy' expects 96"),
            (good[:-1], "have 95 bytes"),
            (good + b"\0", "have 97 bytes"),
            (bytes(96), "not a weights file"),
            (good[:4] + struct.pack("<I", 9) + good[8:], "format version 9"),
            (weights.header(31, good[16:48]) + payload, "damaged"),
            (weights.header(32, other) + payload, "digests differ"),
        ]
    ):
        copy = toy.copy(tmp_path / str(number))
        copy.weights.unlink()
        if content is not None:
            copy.weights.write_bytes(content)
        assert_refused(copy.library, message)


def test_changed_payload_is_found_on_request(toy, tmp_path, monkeypatch):
    copy = toy.copy(tmp_path / "copy")
    monkeypatch.setenv("MLC_VERIFY_WEIGHTS", "1")
    assert_runs(copy.library)
    content = bytearray(copy.weights.read_bytes())
    content[-1] ^= 1
    copy.weights.write_bytes(content)
    assert_refused(copy.library, "contents do not match the digest in model 'toy'")


def test_embedded_weights(build):
    changed = {**SIGNATURE, "weights": {**SIGNATURE["weights"], "file": None}}
    embedded = build("-DTOY_EMBEDDED", signature=changed)
    embedded.weights.unlink()
    assert_runs(embedded.library)


def test_unfit_signatures(build):
    unknown = {**SIGNATURE, "outputs": [{"name": "y", "dtype": "float33", "shape": ["n"]}]}
    assert_refused(build(signature=unknown).library, "unknown dtype 'float33'")
    unsolvable = {**SIGNATURE, "dims": ["m"]}
    assert_refused(build(signature=unsolvable).library, "'m' is not a dimension of any input")


def test_save_under_another_name(toy, tmp_path):
    net = load(toy.library)
    net.save(tmp_path / "renamed.so")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["renamed.h", "renamed.so", "renamed.weights"]
    assert_runs(tmp_path / "renamed.so")
    net.save(toy.library)  # onto itself
    assert_runs(toy.library)
    with load(tmp_path / "renamed.so") as again:
        again.save(tmp_path / "twice.so")
    assert_runs(tmp_path / "twice.so")


def test_save_that_fails_leaves_nothing(toy, tmp_path):
    net = load(toy.library)
    with pytest.raises(ArtifactError, match="No such file or directory"):
        net.save(tmp_path / "missing" / "m.so")
    (tmp_path / "taken.so").mkdir()
    (tmp_path / "taken.so" / "file").touch()
    with pytest.raises(ArtifactError, match="taken.so"):
        net.save(tmp_path / "taken.so")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_replaced_library_is_loaded_anew(toy, build, tmp_path):
    copy = toy.copy(tmp_path / "copy")
    old = load(copy.library)
    bias = BIAS[::-1].copy()
    new = build(bias=bias)
    for source, target in ((new.weights, copy.weights), (new.library, copy.library)):
        shutil.copy(source, tmp_path / "new")
        os.replace(tmp_path / "new", target)
    assert_runs(copy.library, bias)
    x, shift = arguments(4)
    np.testing.assert_allclose(old(x, shift)[0], reference(x, shift)[0], rtol=1e-5, atol=1e-4)


def test_two_models_in_one_process(toy, build):
    bias = np.arange(8, dtype=np.float32)
    other = build(bias=bias)
    first, second = load(toy.library, 2), load(other.library, 3)
    x, shift = arguments(12)
    for _ in range(10):
        np.testing.assert_allclose(first(x, shift)[0], reference(x, shift)[0], rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(second(x, shift)[0], reference(x, shift, bias)[0], rtol=1e-5, atol=1e-4)
