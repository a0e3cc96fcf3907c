"""Threads and processes that begin one compilation at once: one compiles, and the others take its artifact."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import mlc
from mlc.driver import lower
from mlc.driver.cache import one_at_a_time as subject
from mlc.driver.cache.disk_cache import Cache

KEY = "ab" * 32


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def model(rows: int) -> bytes:
    infos = [helper.make_tensor_value_info(name, 1, [rows, 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Softplus", ["x"], ["y"])], "g", infos[:1], infos[1:])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=9)
    return proto.SerializeToString()  # type: ignore[no-any-return]


def test_threads_compile_one_model_once(
    runtime_objects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))
    original, lowered = lower.lower, []

    def counted(*args: Any) -> Any:
        lowered.append(1)
        time.sleep(0.1)  # the others begin
        return original(*args)

    monkeypatch.setattr(lower, "lower", counted)
    rows = int(np.random.default_rng().integers(2, 50))
    with ThreadPoolExecutor(4) as pool:
        nets = list(pool.map(lambda _: mlc.compile(model(rows)), range(4)))
    x = np.random.default_rng().normal(size=(rows, 3)).astype(np.float32)
    for net in nets:
        np.testing.assert_allclose(net(x), np.logaddexp(0, x), rtol=1e-5)
    assert len(lowered) == 1


def test_a_process_that_is_killed_holds_nobody_up(cache: Cache) -> None:
    text = f"""
import pathlib, time
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.cache.one_at_a_time import one_at_a_time
with one_at_a_time(Cache(pathlib.Path({str(cache.root)!r})), {KEY!r}):
    print("held", flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        threading.Timer(0.2, process.kill).start()
        start = time.monotonic()
        with subject.one_at_a_time(cache, KEY) as waited:
            assert waited and time.monotonic() - start < subject.PATIENCE


def test_who_has_waited_long_goes_on(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a process that is stopped, or computes for minutes."""
    monkeypatch.setattr(subject, "PATIENCE", 0.1)
    with subject.one_at_a_time(cache, KEY) as first, ThreadPoolExecutor(1) as pool:
        assert not first and pool.submit(_waited, cache, KEY).result(timeout=60)


def _waited(cache: Cache, key: str) -> bool:
    with subject.one_at_a_time(cache, key) as waited:
        return waited


def test_other_models_do_not_wait(cache: Cache) -> None:
    with subject.one_at_a_time(cache, KEY), ThreadPoolExecutor(1) as pool:
        assert not pool.submit(_waited, cache, "cd" * 32).result(timeout=60)


def test_a_compilation_within_one_does_not_wait_for_itself(cache: Cache) -> None:
    with subject.one_at_a_time(cache, KEY), subject.one_at_a_time(cache, KEY) as waited:
        assert not waited
    with subject.one_at_a_time(cache, KEY) as waited:
        assert not waited


@pytest.mark.parametrize("root", ["none", "a file"])
def test_without_a_cache_nothing_waits(root: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    cache = Cache(None if root == "none" else file)
    with subject.one_at_a_time(cache, KEY), ThreadPoolExecutor(1) as pool:
        assert not pool.submit(_waited, cache, KEY).result(timeout=60)


def test_a_link_in_the_place_of_a_lock_is_not_followed(cache: Cache, tmp_path: Path) -> None:
    with subject.one_at_a_time(cache, KEY):
        pass
    assert cache.root is not None
    lock = cache.root / subject.FOLDER / KEY[:2]
    lock.unlink()
    os.symlink(tmp_path / "target", lock)
    with subject.one_at_a_time(cache, KEY) as waited:
        assert not waited
    assert not (tmp_path / "target").exists()
