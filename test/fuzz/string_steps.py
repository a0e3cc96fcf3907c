"""Steps of strings."""

from __future__ import annotations

from collections.abc import Callable

from growing import Graph

CHANGES = ("NONE", "LOWER", "UPPER")
PATTERNS = ("a+b*", "[^b]*", ".* .*", "(ab|ba)+", "")


def _strings(g: Graph, rank: int | None = None) -> str:
    """New strings, or joined ones, which another step may read too."""
    x = g.new(g.shape(rank or g.random.randint(1, 3)), "object")
    if g.opset < 20 or g.random.random() < 0.5:
        return x
    shape = g.shapes[x]
    other = g.new(
        tuple(1 if g.random.random() < 0.3 else d for d in shape)[g.random.randint(0, len(shape) - 1) :], "object"
    )
    return g.add("StringConcat", [x, other], shape)


def matched(g: Graph) -> None:
    if g.opset >= 20:
        x = _strings(g)
        g.add("RegexFullMatch", [x], g.shapes[x], "bool", pattern=g.random.choice(PATTERNS), last=True)


def mapped(g: Graph) -> None:
    """Strings as numbers."""
    x = _strings(g)
    if g.random.random() < 0.5:
        how = {"keys_strings": ["a", "b a", "aba"], "values_floats": [0.5, -2.0, 9.0], "default_float": -7.0}
        g.add("LabelEncoder", [x], g.shapes[x], "float32", domain="ai.onnx.ml", last=True, **how)
    else:
        how = {"cats_strings": ["a", "b a", "aba"], "cats_int64s": [3, 1, 2], "default_int64": -4}
        g.add("CategoryMapper", [x], g.shapes[x], "int64", domain="ai.onnx.ml", last=True, **how)


def normalised(g: Graph) -> None:
    """In other letters, without some words; of these there are as many as there are."""
    x = _strings(g, 1)
    how = {"case_change_action": g.random.choice(CHANGES), "is_case_sensitive": g.random.randint(0, 1), "locale": "C"}
    how |= g.random.choice([{}, {"stopwords": ["b", "Ab"]}])
    g.add("StringNormalizer", [x], (None,), "object", last=True, **how)  # type: ignore[arg-type]


def split(g: Graph) -> None:
    """Pieces, filled up to the largest number of them, and how many."""
    if g.opset < 20:
        return
    x = _strings(g)
    how = g.random.choice([{}, {"delimiter": "b"}, {"delimiter": " ", "maxsplit": 1}])
    g.add("StringSplit", [x], (*g.shapes[x], None), "object", last=True, **how)  # type: ignore[arg-type]
    g.more(g.shapes[x], "int64", last=True)


STRINGS: tuple[Callable[[Graph], None], ...] = (matched, mapped, mapped, normalised, split)
