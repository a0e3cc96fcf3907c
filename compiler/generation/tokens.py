"""Text as tokens, by the library tokenizers; what ends a text, from the files beside a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from mlc.errors import InputError

FILES = ("generation_config.json", "genai_config.json", "config.json")


class Tokenizer:
    """A tokenizer of a file ``tokenizer.json``."""

    def __init__(self, path: Path) -> None:
        """InputError without the library, or where the file is none of its own."""
        try:
            library: Any = import_module("tokenizers")
        except ModuleNotFoundError:
            hint = "pip install 'mlc[generate]', or give numbers by --tokens"
            raise InputError("A prompt of text needs the package tokenizers", hint=hint) from None
        if not path.is_file():
            raise InputError(f"There is no tokenizer '{path}'", hint="Give --tokenizer tokenizer.json, or --tokens")
        try:
            self._library = library.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises no other class
            raise InputError(f"'{path}' is no tokenizer: {error}", hint="Give the model's tokenizer.json") from error

    def encode(self, text: str) -> list[int]:
        found: list[int] = self._library.encode(text).ids
        return found

    def decode(self, tokens: Sequence[int]) -> str:
        found: str = self._library.decode(list(tokens), skip_special_tokens=True)
        return found


class Printer:
    """Text that grows by tokens: what is new of it, once no character of it is half."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer, self._tokens, self._shown = tokenizer, list[int](), 0

    def new(self, token: int) -> str:
        self._tokens.append(token)
        text = self._tokenizer.decode(self._tokens)
        if text.endswith("\ufffd"):
            return ""
        new, self._shown = text[self._shown :], len(text)
        return new


def beside(model: Path, name: str) -> Path | None:
    """A file beside a model, or in the folder above, as exports have it."""
    return next((folder / name for folder in (model.parent, model.parent.parent) if (folder / name).is_file()), None)


def ends_of(model: Path) -> set[int]:
    """The tokens that end a text, as the first file beside a model says that has any."""
    for name in FILES:
        path = beside(model, name)
        found = _ends(path) if path else set()
        if found:
            return found
    return set()


def _ends(path: Path) -> set[int]:
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return set()
    if not isinstance(config, dict):
        return set()
    inner = config.get("model")
    value = config.get("eos_token_id", inner.get("eos_token_id") if isinstance(inner, dict) else None)
    values = value if isinstance(value, list) else [value]
    return {each for each in values if isinstance(each, int)}
