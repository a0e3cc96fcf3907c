"""Kernels that an earlier compilation has lowered are not lowered again, and the code is the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, StringAttr

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.dialects import kernel
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.types import memref
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.compile import lower_source
from mlc.driver.instrument import Instrument
from mlc.driver.lower import Lowered
from mlc.passes.codegen.cpu.known_kernel import KnownKernel, empty, facts_of, known_of, outline
from mlc.passes.tile import tile_kernels
from mlc.tools.instruments import DumpIR
from mlc.tools.verify_each import VerifyEach
from mlc.tracing.traced import Traced


def spec(*shape: int | str, dtype: str = "float32") -> mlc.TensorSpec:
    return mlc.TensorSpec(np.dtype(dtype), shape)


def attention(q: Any, k: Any, v: Any) -> Any:
    return nn.softmax(q @ k.T / 3.0, axis=-1) @ v


def layers(x: Any, w: Any, width: float = 0.0) -> Any:
    return mnp.tanh(mnp.maximum(x @ w, width) @ w) / (1 + mnp.sum(x, axis=1, keepdims=True))


def one_thread(x: Any) -> Any:
    """Kernels of one tile."""
    return mnp.sum(x), mnp.cumsum(mnp.sort(x, axis=0), axis=0)


def updates(x: Any, y: Any) -> Any:
    return x.at[1].add(y[0]), mnp.linalg.cholesky(x @ x.T + 9 * mnp.eye(4, dtype=np.float32))


def integers(x: Any, w: Any) -> Any:
    return mnp.round((x.astype(np.int32) @ w.astype(np.int32)).astype(np.float32) * 0.25).astype(np.int8)


MODELS: dict[str, tuple[Callable[..., Any], Sequence[mlc.TensorSpec]]] = {
    "attention": (attention, [spec("n", 16), spec("m", 16), spec("m", 16)]),
    "layers": (layers, [spec("n", 24), spec(24, 24)]),
    "one thread": (one_thread, [spec(5, 3)]),
    "updates": (updates, [spec(4, 4), spec(4, 4)]),
    "integers": (integers, [spec("n", 32, dtype="int8"), spec(32, 16, dtype="int8")]),
}


def traced(name: str) -> Traced:
    function, specs = MODELS[name]
    return mlc.jit(function, target="x86-64-v3", threads=2).lower(*specs)


def lowered(model: Traced, cache: Cache | None, *instruments: Instrument) -> Lowered:
    return lower_source(model.source, model.options, instruments, cache=cache)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def tiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the kernels that are tiled."""
    names: list[str] = []
    tile = tile_kernels.tile

    def counted(fn: kernel.FuncOp, isl_operations: int) -> None:
        names.append(fn.sym_name.data)
        tile(fn, isl_operations)

    monkeypatch.setattr(tile_kernels, "tile", counted)
    return names


@pytest.mark.parametrize("name", MODELS)
def test_the_code_is_the_same_with_and_without_the_cache(name: str, cache: Cache, tiled: list[str]) -> None:
    model = traced(name)
    plain, first, again = (lowered(model, each) for each in (None, cache, cache))
    assert plain.sources == first.sources == again.sources
    assert plain.signature == first.signature == again.signature
    half = len(tiled) // 2
    assert half > 0 and tiled[:half] == tiled[half:]  # none in the third compilation


def test_a_model_of_known_kernels_is_right(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", str(cache.root))
    q, k = (np.random.default_rng().standard_normal((n, 16)).astype(np.float32) for n in (5, 7))
    scores = np.exp(np.float64(q) @ k.T / 3)
    wanted = scores / scores.sum(1, keepdims=True) @ k
    for scale in (1, 2):
        run = mlc.jit(lambda q, k, v, scale=scale: scale * attention(q, k, v)).lower(q, k, k).model
        np.testing.assert_allclose(run(q, k, k), scale * wanted, rtol=1e-4, atol=1e-5)
    assert {entry.kind for entry in cache.entries()} >= {"kernels", "artifacts"}


def test_an_edit_lowers_what_it_changes(cache: Cache, tiled: list[str]) -> None:
    lowered(traced("layers"), cache)
    whole = len(tiled)
    tiled.clear()
    edited = mlc.jit(lambda x, w: layers(x, w, width=0.5), target="x86-64-v3", threads=2).lower(*MODELS["layers"][1])
    assert lowered(edited, cache).sources == lowered(edited, None).sources
    assert whole > len(tiled) - whole == 1  # beside those of the compilation without a cache


@pytest.mark.parametrize("option", [{"target": "x86-64-v4"}, {"numerics": "strict"}, {"threads": 1}])
def test_other_options_have_their_own_code(option: dict[str, Any], cache: Cache) -> None:
    lowered(traced("layers"), cache)
    function, specs = MODELS["layers"]
    other = mlc.jit(function, **{"target": "x86-64-v3", "threads": 2, **option}).lower(*specs)
    assert lowered(other, cache).sources == lowered(other, None).sources


@pytest.mark.parametrize("serial", [None, "nests depend on each other"])
@pytest.mark.parametrize("idle", [True, False])
def test_the_host_program_knows_of_a_kernel_what_it_did(serial: str | None, idle: bool) -> None:
    fn = kernel.FuncOp("k", FunctionType.from_lists([memref("f32", (Dim.symbol("n"),))], []))
    empty(fn)
    known = KnownKernel("void KERNEL", ("m", "n"), serial, idle or serial is not None)
    outline(fn, known)
    fn.verify()
    facts = {name: fact for name, fact in facts_of(fn).items() if name != "serial"}
    assert known_of(fn, known.text, facts) == known
    assert known_of(fn, known.text, {**facts, "schedule": StringAttr("another")}) is None


def entries(cache: Cache) -> list[Path]:
    return [entry.path / "kernel.json" for entry in cache.entries() if entry.kind == "kernels"]


def test_a_damaged_entry_is_lowered_again(cache: Cache, tiled: list[str]) -> None:
    plain = lowered(traced("layers"), cache)
    for file in entries(cache):
        file.write_text(file.read_text()[:-9])
    tiled.clear()
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert lowered(traced("layers"), Cache(cache.root)).sources == plain.sources
    assert len(tiled) == len(entries(cache))
    tiled.clear()
    assert lowered(traced("layers"), cache).sources == plain.sources and tiled == []


GOOD = {"text": "void KERNEL", "symbols": ["n"], "serial": None, "idle": False}


@pytest.mark.parametrize(
    "content",
    [None, [], {}, {**GOOD, "more": 1}, {**GOOD, "text": 1}, {**GOOD, "symbols": [1]}, {**GOOD, "serial": 0},
     {**GOOD, "idle": 1}, {name: GOOD[name] for name in ("text", "symbols", "serial")}],
)  # fmt: skip
def test_what_has_another_form_is_unknown(content: Any) -> None:
    assert KnownKernel.parsed(content) is None
    assert KnownKernel.parsed(json.loads(json.dumps(GOOD))) == KnownKernel("void KERNEL", ("n",), None, False)


def test_who_reads_the_ir_sees_all_of_it(cache: Cache, tmp_path: Path) -> None:
    model, strings = traced("integers"), []
    for folder in (tmp_path / "first", tmp_path / "second"):
        lowered(model, cache)
        lowered(model, cache, DumpIR(folder), *([] if strings else [VerifyEach()]))
        strings.append([file.read_text() for file in sorted(folder.iterdir())])
    assert strings[0] == strings[1] and any("scf.for" in text for text in strings[0])


def test_gpus_and_a_missing_cache_know_no_kernels(cache: Cache) -> None:
    function, specs = MODELS["layers"]
    lowered(mlc.jit(function, target="cuda:sm_90").lower(*specs), cache)
    assert entries(cache) == []
    assert lowered(traced("layers"), Cache(None)).sources == lowered(traced("layers"), None).sources


def test_a_retrained_model_has_known_kernels(cache: Cache, tiled: list[str]) -> None:
    for seed in range(2):
        w = np.random.default_rng(seed).standard_normal((24, 24)).astype(np.float32)
        lowered(mlc.jit(lambda x, w=w: layers(x, w), target="x86-64-v3").lower(spec("n", 24)), cache)
        assert bool(tiled) == (seed == 0)
        tiled.clear()
