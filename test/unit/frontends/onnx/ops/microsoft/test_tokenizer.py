"""com.microsoft's Tokenizer against onnxruntime, whose engine for regular expressions is RE2 itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import MS, agrees, single, ways

import mlc
from mlc.frontends.onnx import UnsupportedError, import_model

PLAIN = {"mark": 0, "mincharnum": 1, "pad_value": "#"}
STRINGS = ["a bb  ccc", " xx-y", "", "ñ_é-的", "\n", "aab abc!"]


def tokens(strings: Any, compiled: bool = True, **how: Any) -> None:
    agrees("Tokenizer", {"x": np.array(strings, object)}, domain=MS, compiled=compiled, **{**PLAIN, **how})


CASES: list[dict[str, Any]] = [
    {"separators": [" "]}, {"separators": [" ", "-", "_"], "mark": 1}, {"separators": [" "], "mincharnum": 2},
    {"separators": [r"\s+|[-_]"]}, {"separators": ["^a", "c$"]}, {"separators": [r"\b"]}, {"separators": ["x*"]},
    {"separators": ["a", "ab"]}, {"separators": [""], "mark": 1, "pad_value": ""}, {"tokenexp": "."},
    {"tokenexp": "[a-z]+", "mark": 7}, {"tokenexp": "a|ab|aab?"}, {"tokenexp": "a+?"}, {"tokenexp": r"\pL+"},
    {"tokenexp": "aa|abc", "mincharnum": 3}, {"tokenexp": "x?"}, {"tokenexp": "(?m)^."}, {"tokenexp": r"\ba*"},
    {"separators": [" "], "tokenexp": "a"}, {"separators": ["."], "mark": 1},
]  # fmt: skip


@pytest.mark.parametrize("how", CASES, ids=str)
def test_tokens(how: dict[str, Any]) -> None:
    tokens(STRINGS, **how)
    tokens([STRINGS[:3], STRINGS[3:]], compiled=False, **how)


def test_without_strings() -> None:
    for shape in ((0,), (2, 0), (0, 3)):
        tokens(np.zeros(shape, object), separators=[" "], compiled=False)


def test_random_patterns(fresh: np.random.Generator) -> None:
    """Without \\B, which RE2 finds between the bytes of a character as well."""

    def pattern(depth: int = 3) -> str:
        kind = fresh.integers(7 if depth else 2)
        if kind < 2:
            parts = ["a", "b", ".", "[ab]", "[^a]", r"\w", r"\b", "x", " ", "é", "^", "$", "(?m:^)", r"\pL", r"\s"]
            return str(fresh.choice(parts))
        if kind < 4:
            return pattern(depth - 1) + pattern(depth - 1)
        times = str(fresh.choice(["*", "+", "?", "{1,2}", "*?"]))
        return f"(?:{pattern(depth - 1)}|{pattern(depth - 1)})" if kind < 6 else f"(?:{pattern(depth - 1)}){times}"

    for n in range(60):
        strings = ["".join(fresh.choice(list("abc x é的A\n.😀"), fresh.integers(9))) for _ in range(3)]
        found = [pattern() for _ in range(fresh.integers(1, 4))]
        how: dict[str, Any] = {"separators": found} if n % 2 else {"tokenexp": f"(?:{found[0]})"}
        tokens(strings, compiled=n < 4, mark=n % 3 % 2, mincharnum=int(fresh.integers(1, 4)), **how)


def test_any_number_of_strings_and_tokens() -> None:
    """More tokens than memory was planned for make the run take more."""
    model = single("Tokenizer", {"x": np.array([""], object)}, domain=MS, separators=[" "], **PLAIN)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    net = mlc.compile(model)
    for strings in (["a b", "c"], ["a " * 5000], ["", " "], ["x"] * 9):
        wanted = [text.split() for text in strings]
        width = max(map(len, wanted))
        found = net(np.array(strings, object))
        assert found.shape == (len(strings), width)
        assert found.tolist() == [row + ["#"] * (width - len(row)) for row in wanted]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"separators": ["("]}, "'\\)' is missing"),
    ({"tokenexp": r"\p{Greek}"}, "scripts are not read"),
    ({"tokenexp": "(a|b)*a(a|b){20}"}, "more than 4096 states"),
    ({"mincharnum": 0, "separators": [" "]}, "at least one character"),
    ({"mincharnum": 2, "separators": [""]}, "where each character is one"),
    ({}, "'separators' and 'tokenexp'"),
    ({"separators": [" "], "stopwords": ["a"]}, "'stopwords'"),
]


@pytest.mark.parametrize(("how", "why"), REFUSED, ids=str)
def test_refused(how: dict[str, Any], why: str) -> None:
    with pytest.raises(UnsupportedError, match=f"Tokenizer.*{why}"):
        import_model(single("Tokenizer", {"x": np.array(["a"], object)}, domain=MS, **{**PLAIN, **how}))


def test_a_shape_that_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"\[C\] or \[N, C\]"):
        x = np.array([[["a"]]], object)
        import_model(single("Tokenizer", {"x": x}, domain=MS, separators=[" "], **PLAIN))


def test_known_strings() -> None:
    x = {"x": np.array(["a b", "c"], object)}
    model = single("Tokenizer", x, constants=["x"], domain=MS, separators=[" "], **PLAIN)
    assert "graph.size" not in str(import_model(model).module)
    for results in ways(model, {}):
        assert results["y0"].tolist() == [["a", "b"], ["c", "#"]]
