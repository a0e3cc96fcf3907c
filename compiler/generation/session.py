"""A decoder with its caches: reads a prompt in chunks, then one token after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto

from mlc.api import compile
from mlc.errors import InputError
from mlc.frontends.onnx.reading.caches import MASK, TOKENS
from mlc.generation.inputs import POSITIONS, Decoder, decoder_of
from mlc.runtime import Model

Array = np.ndarray[Any, Any]
CHUNK = 512  # tokens of a prompt that are read at once
ROOM = 2048  # tokens that caches have room for


def room_for(tokens: int) -> int:
    """The room of a sequence of so many tokens: a power of two, so that few artifacts serve all lengths."""
    return max(ROOM, 1 << (tokens - 1).bit_length())


@dataclass
class Timing:
    """Tokens and seconds of reading the prompt, and of the steps after it."""

    prompt_tokens: int = 0
    prompt_seconds: float = 0.0
    steps: int = 0
    step_seconds: float = 0.0


@dataclass
class Session:
    """One sequence. ``model`` has the caches in its state, with ``room`` for so many tokens; its calls say by the
    length of the mask how many of them count. A decoder without caches reads all ``ids`` in each step.
    """

    decoder: Decoder
    model: Model
    chunk: int = CHUNK
    room: int = ROOM
    timing: Timing = field(default_factory=Timing)
    ids: list[int] = field(default_factory=list)

    @classmethod
    def open(
        cls,
        model: str | Path | bytes | ModelProto,
        threads: int | None = None,
        chunk: int = CHUNK,
        tuned: bool = True,
        room: int = ROOM,
    ) -> Session:
        """Compile a decoder. ``room``: the most tokens of a sequence, prompt and text.

        Raises:
            InputError: no decoder, or an operator that mlc does not support.
        """
        if chunk < 1:
            raise InputError(f"A chunk of {chunk} tokens reads nothing", hint="Give 1 or more")
        decoder = decoder_of(model)
        dims = {decoder.batch: 1} if decoder.batch else {}
        cache = room if decoder.caches else 0
        return cls(decoder, compile(model, threads=threads, dims=dims, tuned=tuned, cache=cache), chunk, room)

    def start(self) -> None:
        """Forget what was read."""
        self.ids, self.timing = [], Timing()

    def read(self, tokens: Sequence[int]) -> Array:
        """The logits [vocabulary] after a prompt of at least one token."""
        if not tokens:
            raise InputError("The prompt has no token", hint="Give a prompt of at least one token")
        size = 1 if self.decoder.steps_alone else self.chunk if self.decoder.caches else len(tokens)
        start = time.perf_counter()
        for n in range(0, len(tokens), size):
            logits = self._run(tokens[n : n + size])
            self._check(tokens[n : n + size], len(logits))
        self.timing.prompt_tokens += len(tokens)
        self.timing.prompt_seconds += time.perf_counter() - start
        return logits

    def step(self, token: int) -> Array:
        """The logits [vocabulary] after one more token."""
        start = time.perf_counter()
        logits = self._run([token])
        self.timing.steps += 1
        self.timing.step_seconds += time.perf_counter() - start
        return logits

    def bytes_of_a_step(self) -> int:
        """The bytes that the kernels of a step with the present caches must move."""
        given = self._given(self.ids[-1:] if self.decoder.caches else self.ids)
        return sum(int(kernel["bytes"]) for kernel, _ in self.model.profile(**given))

    @staticmethod
    def _check(tokens: Sequence[int], vocabulary: int) -> None:
        wrong = next((token for token in tokens if not 0 <= token < vocabulary), None)
        if wrong is not None:
            message = f"The prompt has token {wrong}, and the model has {vocabulary} of them"
            raise InputError(message, hint="Give the tokens of the model's own tokenizer")

    def _run(self, tokens: Sequence[int]) -> Array:
        total = len(self.ids) + len(tokens)
        if self.decoder.caches and total > self.room:
            hint = "Give a larger room (--cache), or a shorter prompt"
            raise InputError(f"The caches have room for {self.room} tokens, and there would be {total}", hint=hint)
        self.ids += tokens
        outputs = self.model.run(self._given(tokens if self.decoder.caches else self.ids))
        found: Array = outputs[self.decoder.logits]
        return found.reshape(-1, found.shape[-1])[-1]

    def _given(self, tokens: Sequence[int]) -> dict[str, Array]:
        """The inputs of a run of the last ``tokens`` of all that were read."""
        return {name: self._input(name, spec.dtype, tokens) for name, spec in self.model.inputs.items()}

    def _input(self, name: str, dtype: np.dtype[Any], tokens: Sequence[int]) -> Array:
        total = len(self.ids)
        if name == TOKENS:
            return np.array([tokens], dtype)
        if name == MASK:
            return np.ones((1, total), dtype)
        rank = len(self.decoder.inputs[name].shape)
        if name in POSITIONS:
            positions = np.arange(total - len(tokens), total, dtype=dtype)
            return positions[None] if rank == 2 else positions
        return np.ones([1] * rank, dtype)  # logits of the last token alone
