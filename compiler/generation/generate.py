"""``mlc.generate``: tokens that a decoder adds to a prompt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from onnx import ModelProto

from mlc.errors import InputError
from mlc.generation.sampling import Sampling
from mlc.generation.session import CHUNK, Session, room_for


def generate(
    model: str | Path | bytes | ModelProto | Session,
    prompt: Sequence[int],
    count: int = 64,
    *,
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    seed: int | None = None,
    stop: Collection[int] = (),
    threads: int | None = None,
    chunk: int = CHUNK,
) -> Iterator[int]:
    """The tokens after a prompt, one by one as they are known; ends after ``count`` or with one of ``stop``.

    Args:
        model: an ONNX decoder with ``input_ids``, ``logits`` and, where it has them, ``past…`` and ``present…`` caches;
            or a :class:`mlc.generation.session.Session`, which is compiled already and says the times.
        prompt: token numbers.
        temperature, top_k, top_p, min_p: how tokens are drawn; a temperature of 0 takes the most likely one.
        repetition_penalty: of tokens of the prompt and of those since; above 1 they become less likely.
        seed: the same numbers for the same seed.
        chunk: tokens of a prompt that are read at once.

    Raises:
        InputError: no decoder, a token that is not in the vocabulary, or more tokens than the caches have room for.
    """
    sampling = Sampling(temperature, top_k, top_p, min_p, repetition_penalty)
    if count < 1:
        raise InputError(f"{count} tokens are no text", hint="Give 1 or more")
    room = room_for(len(prompt) + count)
    session = model if isinstance(model, Session) else Session.open(model, threads, chunk, room=room)
    return _generated(session, list(prompt), count, sampling, np.random.default_rng(seed), stop)


def _generated(
    session: Session,
    prompt: list[int],
    count: int,
    sampling: Sampling,
    random: np.random.Generator,
    stop: Collection[int],
) -> Iterator[int]:
    session.start()
    logits = session.read(prompt)
    for number in range(count):
        token = sampling.draw(logits, random, session.ids)
        yield token
        if token in stop:
            return
        if number < count - 1:
            logits = session.step(token)
