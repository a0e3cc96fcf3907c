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
from mlc.generation.inputs import FLAGS, MASKS, POSITIONS, Decoder, decoder_of
from mlc.runtime import Model

Array = np.ndarray[Any, Any]
CHUNK = 512  # tokens of a prompt that are read at once


@dataclass
class Timing:
    """Tokens and seconds of reading the prompt, and of the steps after it."""

    prompt_tokens: int = 0
    prompt_seconds: float = 0.0
    steps: int = 0
    step_seconds: float = 0.0


@dataclass
class Session:
    """One sequence. ``prompt_model`` reads any number of tokens, ``step_model`` one, whose kernels know that."""

    decoder: Decoder
    step_model: Model
    prompt_model: Model | None
    chunk: int = CHUNK
    timing: Timing = field(default_factory=Timing)
    ids: list[int] = field(default_factory=list)
    caches: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def open(
        cls, model: str | Path | bytes | ModelProto, threads: int | None = None, chunk: int = CHUNK, tuned: bool = True
    ) -> Session:
        """Compile a decoder, once for prompts and once for steps.

        Raises:
            InputError: no decoder, or an operator that mlc does not support.
        """
        if chunk < 1:
            raise InputError(f"A chunk of {chunk} tokens reads nothing", hint="Give 1 or more")
        decoder = decoder_of(model)
        batch, length = decoder.open_dims
        dims = {batch: 1} if batch else {}
        whole = None if decoder.steps_alone else compile(model, threads=threads, dims=dims, tuned=tuned)
        if whole is not None and (not decoder.caches or not length):
            return cls(decoder, whole, whole, chunk)
        step = compile(model, threads=threads, dims=dims | ({length: 1} if length else {}), tuned=tuned)
        return cls(decoder, step, whole, chunk)

    def start(self) -> None:
        """Forget what was read."""
        self.ids, self.timing = [], Timing()
        self.caches = {name: self.decoder.empty_cache(name) for name in self.decoder.caches}

    def read(self, tokens: Sequence[int]) -> Array:
        """The logits [vocabulary] after a prompt of at least one token."""
        if not tokens:
            raise InputError("The prompt has no token", hint="Give a prompt of at least one token")
        size = self.chunk if self.prompt_model is not None and self.decoder.caches else 1
        parts = [tokens[n : n + size] for n in range(0, len(tokens), size)]
        start = time.perf_counter()
        if not self.decoder.caches:
            parts = [tokens]
        for part in parts:
            logits = self._run(part)
            self._check(part, len(logits))
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
        last, past = (self.ids[-1:], len(self.ids)) if self.decoder.caches else (self.ids, 0)
        given = self._given(last, past)
        return sum(int(kernel["bytes"]) for kernel, _ in self._model(1).profile(**given))

    def _model(self, count: int) -> Model:
        fits = count == 1 and len(self.ids) > 1 or self.prompt_model is None
        return self.step_model if fits or self.prompt_model is None else self.prompt_model

    @staticmethod
    def _check(tokens: Sequence[int], vocabulary: int) -> None:
        wrong = next((token for token in tokens if not 0 <= token < vocabulary), None)
        if wrong is not None:
            message = f"The prompt has token {wrong}, and the model has {vocabulary} of them"
            raise InputError(message, hint="Give the tokens of the model's own tokenizer")

    def _run(self, tokens: Sequence[int]) -> Array:
        past = len(self.ids) if self.decoder.caches else 0
        self.ids += tokens
        given = self._given(list(tokens) if self.decoder.caches else self.ids, past)
        outputs = self._model(len(tokens)).run(given)
        self.caches = {name: outputs[output] for name, output in self.decoder.caches.items()}
        found: Array = outputs[self.decoder.logits]
        return found.reshape(-1, found.shape[-1])[-1]

    def _given(self, tokens: Sequence[int], past: int) -> dict[str, Array]:
        """The inputs of a run of tokens after ``past`` others; caches as they came from the run before, not copied."""
        total = past + len(tokens)
        given: dict[str, Array] = dict(self.caches)
        for name, tensor in self.decoder.inputs.items():
            if name == "input_ids":
                given[name] = np.array([tokens], tensor.dtype)
            elif name in MASKS:
                given[name] = np.ones((1, total), tensor.dtype)
            elif name in POSITIONS:
                positions = np.arange(past, total, dtype=tensor.dtype)
                given[name] = positions[None] if len(tensor.shape) == 2 else positions
            elif name in FLAGS:
                given[name] = np.full([1] * len(tensor.shape), past > 0)
            elif name not in self.caches:
                given[name] = np.ones([1] * len(tensor.shape), tensor.dtype)  # logits of the last token alone
        return given
