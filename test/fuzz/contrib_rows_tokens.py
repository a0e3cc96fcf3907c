"""Cases of operators on tokens and their ids."""

from __future__ import annotations

from typing import Any

import numpy as np
from contrib import Case, Data, Draw, row


@row("MurmurHash3")
def murmur_hash_3(d: Draw) -> Case:
    kind, shape = d.one("i4", "u4", "i8", "u8", "f4", "f8", "O"), (d.open("n", 1, 6), d.int(1, 3))
    if kind == "O":
        words = ["".join(chr(d.sizes.choice([97, 98, 233, 0x7684, 0x1F600])) for _ in range(d.sizes.randint(0, 7)))
                 for _ in range(shape[0] * shape[1])]  # fmt: skip
        x = d.data(np.array(words, object).reshape(shape), shape)
    elif kind[0] == "f":
        x = d.normal(*shape, kind=kind, scale=1e4)
    else:
        x = d.data(d.bytes(*shape, kind=kind.replace("u8", "i4")).array.astype(kind), shape)
    how = {"seed": d.one(0, 7, 2**32 - 5), "positive": d.int(0, 1)}
    return Case("MurmurHash3", [x], {k: v for k, v in how.items() if d.flip(0.8)})


@row("NGramRepeatBlock")
def n_gram_repeat_block(d: Draw) -> Case:
    batch, vocabulary = d.open("batch", 1, 3), d.int(3, 9)
    ids = d.integers(0, min(3, vocabulary), batch, d.open("length", 4, 12), kind="i8")
    return Case("NGramRepeatBlock", [ids, d.normal(batch, vocabulary)], {"ngram_size": d.int(1, 5)})


@row("BifurcationDetector")
def bifurcation_detector(d: Draw) -> Case:
    count, known = d.open("count", 3, 9), d.open("known", 1, 5)
    source = d.integers(1, 5, count, kind="i8")
    before = d.int(0, 2)
    rest = np.append(source.array[before:], 7)
    rest = np.where(d.numbers.random(rest.shape) < 0.2, 9, rest)
    predicted = Data(rest, ("",) if source.names == ("",) else ("predicted",)) if d.flip(0.7) else None
    low = d.int(1, 3)
    how: dict[str, Any] = {"min_ngram_size": low, "max_ngram_size": low + d.int(0, 2)} if d.flip(0.7) else {}
    inputs = [source, d.integers(1, 5, known, kind="i8"), d.given(d.one(before, [before]), "i8", constant=False)]
    return Case("BifurcationDetector", [*inputs, predicted], how, outputs=(True, True))


@row("NGramHashMapping")
def n_gram_hash_mapping(d: Draw) -> Case:
    kind, n, heads = d.one("i4", "i8"), d.int(2, 4), d.int(1, 3)
    batch, length = d.open("batch", 1, 3), d.open("length", 1, 7)
    ids = d.integers(0, 6, batch, length, kind=kind)
    greatest = 1 << (30 if kind == "i4" else 60)
    constants = [d.integers(-greatest, greatest, n + d.int(0, 1), kind=kind, constant=True)]
    constants += [d.integers(1, 99, (n - 1) * heads, kind=kind, constant=True)]
    past = d.integers(0, 6, batch, n - 1, kind=kind) if d.flip() else None
    offsets = d.integers(0, 999, (n - 1) * heads, kind=kind, constant=True) if d.flip() else None
    end = d.given(d.int(0, 5), kind) if d.flip(0.6) else None
    segments = d.data(np.sort(d.integers(0, 3, batch, length).array), (batch, length)) if d.flip(0.4) else None
    how = {"max_ngram_size": n, "n_head_per_ngram": heads, "pad_id": d.int(0, 9)}
    how |= {"reset_on_eos": d.int(0, 1)} if d.flip(0.7) else {}
    inputs = [ids, *constants, past, offsets, end, segments]
    return Case("NGramHashMapping", inputs, how, outputs=(True, d.flip(0.7)))


@row("VarlenNGramHashMapping")
def varlen_n_gram_hash_mapping(d: Draw) -> Case:
    kind, n, heads, batch = d.one("i4", "i8"), d.int(2, 4), d.int(1, 3), d.int(1, 4)
    lengths = [d.int(1, 6) for _ in range(batch)]
    total, greatest, capacity = sum(lengths), 1 << (30 if kind == "i4" else 60), d.one(0, 0, 1, 3)
    inputs: list[Data | None] = [d.integers(0, 6, total, kind=kind)]
    inputs += [d.integers(-greatest, greatest, n, kind=kind, constant=True)]
    inputs += [d.integers(1, 99, (n - 1) * heads, kind=kind, constant=True)]
    inputs += [d.given(np.cumsum([0, *lengths]), "i4", constant=False)]
    inputs += [d.integers(0, 6, batch, n - 1, kind=kind) if d.flip() else None]
    inputs += [d.integers(0, 999, (n - 1) * heads, kind=kind, constant=True) if d.flip() else None]
    inputs += [d.given(d.int(0, 5), kind) if d.flip(0.6) else None]
    segments, before = d.integers(0, 3, total), d.integers(0, 3, batch, n - 1)
    inputs += [segments, before if inputs[4] is not None and d.flip() else None] if d.flip() else [None, None]
    inputs += [d.integers(0, 5, batch)] if capacity else []
    how = {"max_ngram_size": n, "n_head_per_ngram": heads, "pad_id": d.int(0, 9), "reset_on_eos": d.int(0, 1)}
    how |= {"state_update_capacity": capacity} if capacity else {}
    segmented = inputs[7] is not None
    return Case("VarlenNGramHashMapping", inputs, how, outputs=(True, True, segmented, bool(capacity)))


@row("Tokenizer")
def tokenizer(d: Draw) -> Case:
    """Of random patterns; without \\B, which RE2 finds within a character."""

    def pattern(depth: int = 2) -> str:
        kind = d.int(0, 6 if depth else 1)
        if kind < 2:
            return str(d.one("a", "b", ".", "[ab]", "[^a]", r"\w", r"\b", "x", " ", "é", "^", "$", r"\pL", r"\s", "-"))
        if kind < 4:
            return pattern(depth - 1) + pattern(depth - 1)
        inner = pattern(depth - 1)
        return f"(?:{inner}|{pattern(depth - 1)})" if kind < 6 else f"(?:{inner}){d.one('*', '+', '?', '{1,2}')}"

    shape = (d.open("n", 1, 4), *d.one((), (2,)))
    letters = list("abc x é的A\n.-😀")
    words = ["".join(d.sizes.choices(letters, k=d.sizes.randint(0, 8))) for _ in range(int(np.prod(shape)))]
    how: dict[str, Any] = {"mark": d.int(0, 1), "mincharnum": d.int(1, 3), "pad_value": d.one("", "#")}
    how |= {"separators": [pattern() for _ in range(d.int(1, 3))]} if d.flip() else {"tokenexp": f"(?:{pattern()})"}
    return Case("Tokenizer", [d.data(np.array(words, object).reshape(shape), shape)], how)
