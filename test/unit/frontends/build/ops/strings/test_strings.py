"""Operators on strings against onnxruntime, and against Python where it does something else."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto
from single import agrees, single, ways

import mlc
from mlc.dialects.semantics.string_routines import lowered, raised
from mlc.dialects.semantics.strings import escaped, unescaped
from mlc.errors import RunError
from mlc.frontends.build.ops.strings.automaton import automaton
from mlc.frontends.build.ops.strings.regex import parse
from mlc.frontends.build.ops.strings.regex_tree import RegexError
from mlc.frontends.onnx import UnsupportedError, import_model


def strings(*values: Any) -> np.ndarray:
    """An array of strings as ONNX has it in Python."""
    return np.array(values, dtype=object)


WORDS = strings(["a", "Bb", "", "ü"], ["Bb", "zebra", "的", "a"], ["Ä", " a", "b\n", "\x7f"])


def test_concatenated() -> None:
    agrees("StringConcat", {"a": WORDS, "b": WORDS[:, :1]})
    agrees("StringConcat", {"a": WORDS[0], "b": strings(["x"], ["\U0001f600"])})
    agrees("StringConcat", {"a": WORDS, "b": strings("-")}, constants=["b"])
    agrees("StringConcat", {"a": strings("x"), "b": strings("-")}, constants=["a", "b"])


SENTENCES = strings([" a  b c ", "a-b--c-", "", "-", "x\ty\nz"], ["abab", "--", "a", "ab ab ", "ü-的"])


@pytest.mark.parametrize("delimiter", [None, "", "-", "--", "ab"])
@pytest.mark.parametrize("most", [None, 1, 2])
def test_split(delimiter: str | None, most: int | None) -> None:
    """As Python does; onnxruntime takes white space off what is left after the last split."""
    how = {"delimiter": delimiter, "maxsplit": most}
    model = single("StringSplit", {"x": SENTENCES}, 2, **{k: v for k, v in how.items() if v is not None})
    pieces = [t.split(delimiter or None, -1 if most is None else most) for t in SENTENCES.flat]
    width = max(map(len, pieces))
    filled = strings(*(p + [""] * (width - len(p)) for p in pieces)).reshape(2, 5, width)
    for found, counts in (results.values() for results in ways(model, {"x": SENTENCES})):
        assert found.tolist() == filled.tolist()
        assert counts.tolist() == np.reshape([len(p) for p in pieces], (2, 5)).tolist()


def test_the_pieces_of_known_strings_have_a_known_shape() -> None:
    model = single("StringSplit", {"x": strings("a b", "c")}, 2, constants=["x"])
    assert "graph.size" not in str(import_model(model).module)


def test_too_many_pieces() -> None:
    net = mlc.compile(single("StringSplit", {"x": strings("a")}, 2))
    with pytest.raises(RunError, match="StringSplit_0.*too many pieces.*maxsplit"):
        net(strings("a " * 1025))
    assert net(strings("a " * 1024))[1].tolist() == [1024]


STOP = ["a", "BB", "ä"]


@pytest.mark.parametrize("case", ["LOWER", "UPPER", "NONE"])
@pytest.mark.parametrize("sensitive", [0, 1])
def test_normalised(case: str, sensitive: int) -> None:
    how = {"case_change_action": case, "is_case_sensitive": sensitive}
    fold = str if sensitive else lowered
    change = {"LOWER": lowered, "UPPER": raised, "NONE": str}[case]
    for x in (WORDS[0], WORDS[1], strings("A", "a") if not sensitive else strings("a", "a")):
        kept = [change(t) for t in x if fold(t) not in [fold(s) for s in STOP]] or [""]
        for given, wanted in ((x, kept), (x[None], [kept])):
            model = single("StringNormalizer", {"x": given}, stopwords=STOP, **how)
            for results in ways(model, {"x": given}):
                assert results["y0"].tolist() == wanted
    agrees("StringNormalizer", {"x": strings("a", "Bb", "ZEBRA")}, stopwords=["a", "bb"], locale="C", **how)


def test_letters_of_unicode() -> None:
    """The runtime's table is Python's, as far as both know the characters (newer versions of Unicode have more)."""
    known = [c for c in map(chr, range(1, 0x24F)) if c.strip()]
    if sys.version_info[:2] == (3, 11):
        known = [c for c in map(chr, range(1, 0x110000)) if not 0xD800 <= ord(c) < 0xE000]
    x = strings(*known)
    for case, fn in (("LOWER", lowered), ("UPPER", raised)):
        net = mlc.compile(single("StringNormalizer", {"x": x}, case_change_action=case, is_case_sensitive=1))
        assert net(x).tolist() == [fn(c) for c in known]


PATTERNS = (
    r"www\.[\w.-]+\.\bcom\b", r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", "", "a*", "(a|b)*abb", r"a{2,3}b?",
    r"[^a-z]+", r".*", r"(?i)straße|ü+", r"(?:ab)+c", r"\d+(\.\d+)?", r"[[:alpha:]_][[:alnum:]_]*", r"x\B.*\by",
    r"a+?b*?", r"\x{7684}.", r"(?s).\n", r"[]a]+", r"a{,2}", r"^$", r"(?P<n>a)b", r"[\d-]+", r"b^a", r"\101",
    r"(?m)(a$\n?)+|^b*$", r"\pL+", r"[^\p{Lu}\PN]+", r"\Qa]\E+|\Q]a"
)  # fmt: skip
SUBJECTS = (
    "", "a", "aab", "abb", "aababb", "www.a.com", "www.-.comx", "me@gmail.com", " me@gmail.com.", "STRASSE", "Straße",
    "ÜÜ", "abababc", "12", "3.14", "3.", "_x9", "9x", "xy", "x y", "xa y", "的的", "\n\n", "a\n", "]a]", "a{,2}", "ab",
    "1-2", "A", "aaa", "aaab", "AB C", "\U0001f600",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_full_match(pattern: str) -> None:
    """As onnxruntime, whose engine is RE2 itself."""
    agrees("RegexFullMatch", {"x": strings(*SUBJECTS)}, pattern=pattern, compiled=len(pattern) % 3 == 0)


REFUSED = ["(a", "a)", "[a", "*", "a**b{1001}", r"\p{Greek}", "(?x)a", "[z-a]", r"\q", "a{3,2}"]


@pytest.mark.parametrize("pattern", REFUSED)
def test_patterns_that_are_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        automaton(parse(pattern))


def test_a_pattern_of_too_many_states() -> None:
    model = single("RegexFullMatch", {"x": strings("a")}, pattern="(a|b)*a(a|b){20}")
    with pytest.raises(UnsupportedError, match="RegexFullMatch.*more than 4096 states"):
        import_model(model)


def random_pattern(random: np.random.Generator, depth: int = 3) -> str:
    """A pattern that Python and RE2 read alike."""
    kind = random.integers(7 if depth else 2)
    inner = lambda: random_pattern(random, depth - 1)  # noqa: E731
    if kind < 2:
        return str(random.choice(["a", "b", "c", ".", "[ab]", "[^a]", r"\w", r"\b", "x"]))
    if kind < 4:
        return inner() + inner()
    return f"(?:{inner()}|{inner()})" if kind < 6 else f"(?:{inner()})" + str(random.choice(["*", "+", "?", "{1,2}"]))


def test_random_patterns() -> None:
    random = np.random.default_rng()
    for _ in range(100):
        pattern = random_pattern(random)
        subjects = ["".join(random.choice(list("abc x"), random.integers(6))) for _ in range(30)]
        first, table = automaton(parse(pattern))
        for string in subjects:
            state = 0
            for char in string:
                state = table[state, np.searchsorted(first, ord(char), side="right") - 1]
            assert bool(table[state, -1]) == bool(re.fullmatch(pattern, string)), (pattern, string)


@pytest.mark.parametrize("to", [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64])
def test_numbers_of_strings(to: int) -> None:
    values = ["1", "-27", "0", "123456", "-0"]
    if to in (TensorProto.FLOAT, TensorProto.DOUBLE):
        values += ["3.25", "-1e-5", "1E8", "NaN", "-INF", "INF", "+INF", "0.1"]
    agrees("Cast", {"x": strings(values)}, to=to)


def test_large_whole_numbers_of_strings() -> None:
    x = strings("18446744073709551615", "9223372036854775808")
    agrees("Cast", {"x": x}, to=TensorProto.UINT64)


def test_what_is_no_number() -> None:
    net = mlc.compile(single("Cast", {"x": strings("1")}, to=TensorProto.FLOAT))
    with pytest.raises(RunError, match="Cast_0.*no number: Hello"):
        net(strings("Hello"))
    assert net(strings("7")).tolist() == [7.0]


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "i8", "u8", "u4", "?"])
def test_strings_of_numbers(dtype: str) -> None:
    random = np.random.default_rng(4)
    x = (random.standard_normal(12) * 10.0 ** random.integers(-3, 3, 12)).astype(dtype)
    if dtype[0] == "f":
        x = np.append(x, [np.nan, np.inf, -np.inf, 0, -0.0, 12345.0, 1e-4 * 0.5]).astype(dtype)
    if dtype != "f8":
        agrees("Cast", {"x": x}, to=TensorProto.STRING)
        return
    for results in ways(single("Cast", {"x": x}, to=TensorProto.STRING), {"x": x}):  # onnxruntime writes 8 digits
        np.testing.assert_array_equal(results["y0"].astype("f8"), x)


@pytest.mark.parametrize("order", [0, 1])
def test_unique_strings(order: int) -> None:
    x = strings("b", "的", "a", "b", "", "Z", "a", "ü", "b")
    agrees("Unique", {"x": x}, 4, sorted=order)
    agrees("Unique", {"x": strings(["b", "a"], ["a", "b"], ["b", "a"])}, 4, sorted=order, axis=0)


def test_moved() -> None:
    """What moves strings and asks whether they are equal."""
    index = np.array([2, 0, -1])
    agrees("Equal", {"a": WORDS, "b": WORDS[1]}, version=19)
    agrees("Gather", {"x": WORDS, "i": index}, axis=1)
    agrees("Transpose", {"x": WORDS})
    agrees("Where", {"c": WORDS == "a", "a": WORDS, "b": WORDS[::-1].copy()})
    agrees("Concat", {"a": WORDS, "b": strings(["new", "a", "", "b"])}, axis=0)
    agrees("Reshape", {"x": WORDS, "s": np.array([4, -1])}, constants=["s"])
    agrees("Tile", {"x": WORDS, "n": np.array([2, 1])}, constants=["n"])
    agrees("Slice", {"x": WORDS, "a": np.array([1]), "b": np.array([3])}, constants=["a", "b"])
    agrees("Compress", {"x": WORDS, "c": np.array([True, False, True])}, axis=0)
    agrees("ScatterElements", {"x": WORDS, "i": index[None, :2], "u": strings(["p", "q"])}, axis=1)
    agrees("OneHot", {"i": index, "d": np.array([4]), "v": strings("off", "on")}, constants=["d"])
    agrees(
        "Pad",
        {"x": WORDS, "p": np.array([0, 1, 1, 0])},
        constants=["p"],
        wanted=[np.pad(WORDS, ((0, 1), (1, 0)), constant_values="")],
    )


def test_computing_is_refused() -> None:
    for op in ("Add", "Less"):
        with pytest.raises(UnsupportedError, match="of strings; cast them to numbers"):
            import_model(single(op, {"a": WORDS, "b": WORDS}))
    with pytest.raises(UnsupportedError, match="takes strings"):
        import_model(single("StringConcat", {"a": WORDS, "b": np.ones(4, np.int64)}))


MODEL = """<ir_version: 10, opset_import: ["" : 20]>
greet (string[n] names, bool[n] polite) => (string[n] y, int64[1] count) {
  dear = Constant <value_string = "Dear \\"">()
  end = Constant <value_strings = ["\\"!?"]>()
  called = StringConcat (dear, names)
  whole = StringConcat (called, end)
  y = Where (polite, whole, names)
  count = Shape (y)
}"""


def test_a_model_of_strings() -> None:
    model = onnx.parser.parse_model(MODEL)
    for names in (strings("Ann", "Bo", ""), np.array(["x" * 100_000, "é"]), strings()):
        polite = np.arange(len(names)) % 2 == 0
        wanted = [f'Dear "{n}"!?' if p else n for n, p in zip(names, polite, strict=True)]
        for y, count in (r.values() for r in ways(model, {"names": names, "polite": polite})):
            assert (y.tolist(), count.tolist(), y.dtype) == (wanted, [len(names)], np.dtype(object))


def test_escaped() -> None:
    for string in ("plain", 'a"b\\c\n\t', "的ü\U0001f600", "??/", "\\u1234"):
        assert unescaped(escaped(string)) == string and escaped(string).isascii()
    x = strings('"\\?', "\x01" + "7", "的")
    agrees("StringConcat", {"x": x, "c": strings('"\\??/\x019', "的", "\n")}, constants=["c"])
