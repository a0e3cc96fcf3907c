"""Calls from Python with arrays of strings: the short way of a repeated call gives what the long one gives."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnx.parser
import pytest

import mlc
from mlc.errors import RunError
from mlc.runtime import Model, arrays, library

MODEL = """<ir_version: 10, opset_import: ["" : 20, "ai.onnx.ml" : 4]>
words (string[n,2] x, string[n,2] y, float[n] z) =>
      (string[n,2] joined, int64[n,2] known, string[n] label, float[n] w) {
  joined = StringConcat (x, y)
  known = ai.onnx.ml.LabelEncoder <keys_strings = ["ab", "äö", ""], values_int64s = [1, 2, 3]> (joined)
  k = Cast <to = 7> (z)
  label = ai.onnx.ml.LabelEncoder <keys_int64s = [0, 1], values_strings = ["none", "ü"], default_string = "more"> (k)
  w = Neg (z)
}"""
LABELS = {0: "none", 1: "ü"}
WORDS = ["", "a", "b", "ab", "ä", "ö", "€ 𝄞", "long " * 30]


@pytest.fixture(scope="module")
def net() -> Iterator[Model]:
    with mlc.compile(onnx.parser.parse_model(MODEL), "cpu", 1) as model:
        yield model


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng()


def given(rng: np.random.Generator, n: int, words: list[str] = WORDS) -> list[np.ndarray[Any, Any]]:
    x, y = rng.choice(np.array(words, object), (2, n, 2))
    return [x.copy(), y.copy(), rng.integers(0, 4, n).astype("f4")]


def assert_right(found: tuple[np.ndarray[Any, Any], ...], x: Any, y: Any, z: Any) -> None:
    joined, known, label, w = found
    wanted = [[str(a) + str(b) for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]
    assert joined.tolist() == wanted
    assert known.tolist() == [[{"ab": 1, "äö": 2, "": 3}.get(word, -1) for word in row] for row in wanted]
    assert label.tolist() == [LABELS.get(int(each), "more") for each in z]
    assert np.array_equal(w, -z)


@pytest.mark.skipif(library._unpacked is None, reason="installed without a C compiler")
def test_the_second_call_goes_the_short_way(net, rng, monkeypatch):
    net(*given(rng, 9))
    monkeypatch.setattr(net, "_execute", None)
    for _ in range(5):
        values = given(rng, 9)
        assert_right(net(*values), *values)
        assert_right(tuple(net.run(dict(zip("xyz", values, strict=True))).values()), *values)


def test_any_number_of_rows_and_words(net, rng):
    for n in (0, 1, 3, 3, 0, 500, 500, 1):
        values = given(rng, n, [f"word {k}é" for k in range(300)] if n == 500 else WORDS)
        assert_right(net(*values), *values)


def test_other_arrays_of_strings(net, rng):
    x, y, z = given(rng, 6)
    others = [x.astype("U"), x.astype(np.dtypes.StringDType()), np.asfortranarray(x), np.repeat(x, 2, 0)[::2]]
    others.append(np.array([[np.str_(word) for word in row] for row in x], object))
    for other in others:
        for _ in range(2):
            assert_right(net(other, y, z), x, y, z)
            assert_right(net(x, other, z), x, x, z)


@pytest.mark.parametrize("wrong", [None, 3, b"ab", "a\0b", "\ud800"])
def test_errors_are_those_of_the_long_way(net, rng, wrong, monkeypatch):
    x, y, z = given(rng, 4)
    x[2, 1] = wrong
    messages = []
    for extension in (True, False):
        if not extension:
            monkeypatch.setattr(arrays, "_packed", None)
        net(*given(rng, 4))
        with pytest.raises(RunError, match="Input 'x' has") as error:
            net(x, y, z)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_without_the_extension(rng, monkeypatch):
    monkeypatch.setattr(library, "Call", None)
    monkeypatch.setattr(library, "_unpacked", None)
    monkeypatch.setattr(arrays, "_packed", None)
    with mlc.compile(onnx.parser.parse_model(MODEL), "cpu", 1) as model:
        for _ in range(2):
            values = given(rng, 5)
            assert_right(model(*values), *values)


def test_nothing_is_kept_or_lost(net, rng):
    values = given(rng, 6)
    net(*values)
    gc.collect()
    watched = [*values, *values[0].flat, None, values[0].dtype]
    before = [sys.getrefcount(each) for each in watched]
    results = [net(*values) for _ in range(500)]
    assert_right(results[-1], *values)
    del results
    gc.collect()
    assert abs(sum(before) - sum(sys.getrefcount(each) for each in watched)) < 100


def test_threads_have_their_own_strings(net, rng):
    calls = [given(rng, 40, [f"{k} of {n}" for k in range(20)]) for n in range(8)]

    def run(values: list[np.ndarray[Any, Any]]) -> None:
        for _ in range(100):
            assert_right(net(*values), *values)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, calls))


PIECES = """<ir_version: 10, opset_import: ["" : 20]>
pieces (string[n] x) => (string[n,m] y, int64[n] counts, string[k] found) {
  y, counts = StringSplit <delimiter = ","> (x)
  found = Unique <sorted = 1> (x)
}"""


def assert_split(found: tuple[np.ndarray[Any, Any], ...], lines: Any) -> None:
    rows = [line.split(",") for line in lines]
    width = max(map(len, rows), default=0)
    assert found[0].shape == (len(rows), width)
    assert found[0].tolist() == [row + [""] * (width - len(row)) for row in rows]
    assert found[1].tolist() == [len(row) for row in rows]
    assert found[2].tolist() == sorted(set(lines))


def lines_of(rng: np.random.Generator, n: int, most: int) -> np.ndarray[Any, Any]:
    words = np.array(["a", "é", "long word", "x" * 70], object)
    return np.array([",".join(rng.choice(words, rng.integers(0, most + 1))) for _ in range(n)], object)


def test_sizes_that_only_a_run_knows(rng):
    with mlc.compile(onnx.parser.parse_model(PIECES), "cpu", 1) as model:
        for n, most in ((3, 2), (3, 2), (3, 9), (3, 200), (3, 1), (0, 1), (1, 0), (400, 3), (400, 30)):
            for _ in range(2):
                lines = lines_of(rng, n, most)
                assert_split(model(lines), lines)
                by_name = model.run({"x": lines})
                assert list(by_name) == ["y", "counts", "found"]
                assert_split(tuple(by_name.values()), lines)


@pytest.mark.skipif(library._unpacked is None, reason="installed without a C compiler")
def test_such_sizes_go_the_short_way(rng, monkeypatch):
    with mlc.compile(onnx.parser.parse_model(PIECES), "cpu", 1) as model:
        model(lines_of(rng, 7, 5))
        monkeypatch.setattr(model, "_execute", None)
        for most in (5, 1, 3):
            lines = lines_of(rng, 7, most)
            assert_split(model(lines), lines)


def test_one_output_of_such_a_size(rng):
    text = PIECES.replace(", int64[n] counts, string[k] found", "").replace("  found = Unique <sorted = 1> (x)\n", "")
    with mlc.compile(onnx.parser.parse_model(text), "cpu", 1) as model:
        for most in (4, 4, 40, 2):
            lines = lines_of(rng, 5, most)
            rows = [line.split(",") for line in lines]
            width = max(map(len, rows))
            wanted = [row + [""] * (width - len(row)) for row in rows]
            assert model(lines).tolist() == wanted
            assert model.run({"x": lines})["y"].tolist() == wanted


def test_a_size_that_outgrows_its_room(rng):
    head = PIECES.split("{")[0].replace(", int64[n] counts, string[k] found", "")
    text = head.replace('"" : 20', '"com.microsoft" : 1')
    tokenizer = 'com.microsoft.Tokenizer <mark = 0, mincharnum = 1, pad_value = "", separators = [","]>'
    with mlc.compile(onnx.parser.parse_model(f"{text}{{ y = {tokenizer} (x) }}"), "cpu", 1) as model:
        for most in (3, 3, 100, 100, 2, 500):
            lines = lines_of(rng, 5, most)
            rows = [[word for word in line.split(",") if word] for line in lines]
            width = max(map(len, rows))
            assert model(lines).tolist() == [row + [""] * (width - len(row)) for row in rows]
