"""Tokens of strings: characters, pieces between separators, matches of an expression. Source: onnxruntime's Tokenizer.

The routines take an operand of i32: the mode (``token_routines``), whether tokens are marked, the number of patterns,
the place where each pattern's ``searcher`` begins, and these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlc.dialects.semantics.token_routines import CHARACTERS, EXPRESSION, SEPARATORS
from mlc.dialects.types import STRING
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.strings.automaton import searcher
from mlc.frontends.build.ops.strings.regex import parse
from mlc.frontends.build.ops.strings.regex_tree import RegexError
from mlc.frontends.build.tensors import Tensor

PATTERNS = 256  # separators, each of which a text is searched for after the one before


def tokenize(
    build: Builder, x: Tensor, separators: Sequence[str], expression: str, least: int, mark: bool, filler: str
) -> Tensor:
    """[…, most tokens] strings: those of each string of ``x``, and ``filler`` after them.

    Separators are removed one after the other; without one, matches of ``expression`` are tokens. One separator that is
    empty, or the expression ".", makes each character a token. Tokens have at least ``least`` characters. ``mark``: the
    characters 2 and 3 surround them, unless there is no token at all.

    Raises:
        NotSupported: a pattern is not valid, or its automaton is too large; there are more than PATTERNS separators.
    """
    if len(separators) > PATTERNS:
        raise NotSupported(f"{len(separators)} separators; at most {PATTERNS} are read: write [abc] for a|b|c")
    mode, patterns = (SEPARATORS, list(separators)) if separators else (EXPRESSION, [expression])
    if list(separators) == [""] or (not separators and expression == "."):
        mode, patterns = CHARACTERS, []
    if mode == CHARACTERS and least > 1:
        raise NotSupported(f"tokens of {least} characters where each character is one")
    how = Tensor.from_known(_packed(mode, mark, patterns))
    counts = build.string_routine("count_tokens", x, how, numbers=(least,))
    most = build.scalars.of(build.reduce("max", counts, range(x.rank))).item()
    marked = f"where({most} > 0, {most} + {2 * mark}, 0)"
    width = build.dim(build.scalars.from_expr(marked), "the number of tokens")
    return build.string_routine("tokens", x, how, after=(width,), words=(filler,), numbers=(least,), element=STRING)


def _packed(mode: int, mark: bool, patterns: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """The operand ``how`` of the routines."""
    parts, start = [], 3 + len(patterns)
    for pattern in patterns:
        try:
            parts.append(searcher(parse(pattern)))
        except RegexError as e:
            raise NotSupported(f"pattern {pattern!r}: {e}") from e
    starts = [start + sum(len(p) for p in parts[:n]) for n in range(len(parts))]
    return np.concatenate([np.array([mode, mark, len(patterns), *starts]), *parts]).astype(np.int32)
